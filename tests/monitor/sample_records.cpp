// Records as a Rendition would fill them: see the header.
#include "tests/monitor/sample_records.h"

#include <zlib.h>

#include <string>

using namespace monitor;

namespace {

void big_endian(std::string &out, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift);
}

void chunk(std::string &out, const std::string &type_and_data) {
  big_endian(out, static_cast<uint32_t>(type_and_data.size() - 4));
  out += type_and_data;
  big_endian(out, static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef *>(type_and_data.data()),
                                              static_cast<uInt>(type_and_data.size()))));
}

}  // namespace

Image sample_png(int width, int height, int kind) {
  std::string rows;
  for (int y = 0; y < height; ++y) {
    rows += '\0';  // filter: none
    for (int x = 0; x < width; ++x) {
      const int block = kind == 1 ? 12 : 1;  // the distorted one is coarse
      const int bx = x / block * block, by = y / block * block;
      const int stripe = (bx + by / 2) / 24 % 3;
      const uint8_t light = static_cast<uint8_t>(60 + 150 * by / height);
      for (int c = 0; c < 3; ++c) {
        uint8_t value = static_cast<uint8_t>(c == stripe ? light : light / 2);
        if (kind == 2) value = x % 12 == 0 || y % 12 == 0 ? 200 : static_cast<uint8_t>((x * 7 + y * 5) % 40);
        rows += static_cast<char>(value);
      }
    }
  }
  uLongf size = compressBound(rows.size());
  std::string packed(size, '\0');
  compress(reinterpret_cast<Bytef *>(packed.data()), &size, reinterpret_cast<const Bytef *>(rows.data()),
           rows.size());
  packed.resize(size);
  std::string header = "IHDR";
  big_endian(header, static_cast<uint32_t>(width));
  big_endian(header, static_cast<uint32_t>(height));
  header += std::string("\x08\x02\x00\x00\x00", 5);  // 8 bits, RGB
  std::string png = "\x89PNG\r\n\x1a\n";
  chunk(png, header);
  chunk(png, "IDAT" + packed);
  chunk(png, "IEND");
  return std::make_shared<const std::string>(std::move(png));
}

SampleRecords::SampleRecords(Time end) {
  ChannelSettings channel;
  channel.name = "news";
  channel.reference = "rtsp://source.example/news";
  channel.alert_threshold = 80;
  channel.alert_clear = 85;
  channel.renditions = {{.name = "720p", .uri = "rtsp://edge.example/news/720p"},
                        {.name = "360p", .encode = "x264enc bitrate=400"}};
  settings.channels = {channel};
  for (const RenditionSettings &rendition : channel.renditions) {
    records.push_back(std::make_unique<Record>(channel.name, rendition.name, channel.reference,
                                               rendition.uri.empty() ? rendition.encode : rendition.uri));
  }

  Record &record = *records[0];
  record.event(EventKind::started, "1280x720 I420 25/1", end - 300'000'000);
  for (int second = 300; second > 0; --second) {
    if (second == 295) record.event(EventKind::sync, "locked, offset 0.480 s", end - second * 1'000'000);
    for (int frame = 0; frame < 5; ++frame) {
      record.score(end - second * 1'000'000 + frame * 200'000, 92 + second % 4 - frame * 0.5);
    }
  }
  Now &now = record.now();
  now.state = State::running;
  now.score = 91.25;
  now.score_name = "vmaf";
  now.features = {
      {"vmaf", 91.25}, {"integer_adm2", 0.9875}, {"integer_motion2", 2.25}, {"integer_vif_scale0", 0.625}};
  now.window = Window{end - 1'000'000, {92.5, 88.75, 95.25, 92.375, 1.5, 89, 89.5, 92.75}};
  now.pooled = {{"vmaf", {93.5, 41.5, 95.125, 93.25, 2.5, 60.5, 88.25, 94}},
                {"integer_adm2", {0.98, 0.91, 1, 0.979, 0.01, 0.93, 0.95, 0.985}},
                {"integer_motion2", {1.8533, 0, 2.5, 1.5, 0.5, 0.25, 0.75, 2.22}}};
  now.counters = {.compared = 1500,
                  .scored = 1498,
                  .ref_unmatched = 3,
                  .dist_unmatched = 2,
                  .skipped = 5,
                  .repeated = 6,
                  .restarts = 1,
                  .alerts = 2};
  now.offset_seconds = 0.48;
  now.confidence = 0.96875;
  now.sync_state = "locked";
  now.lag_seconds = 0.25;
  now.fps = 25;
  now.backend = "cpu";
  now.backend_reason = "no GPU was found";
  now.model_source = "fitted";
  now.caps = "1280x720 I420 25/1";
  for (int n = 0; n < 3; ++n) {
    record.worst({.id = next_id(),
                  .time = end - n * 20'000'000,
                  .stream_time = 40'000'000 + n * 20'000'000'000u,
                  .score = 41.5 + 10 * n,
                  .reference = sample_png(240, 135, 0),
                  .distorted = sample_png(240, 135, 1),
                  .difference = n == 2 ? nullptr : sample_png(240, 135, 2)});
  }
}

std::vector<Record *> SampleRecords::pointers() const {
  std::vector<Record *> result;
  for (const auto &record : records) result.push_back(record.get());
  return result;
}

std::vector<const Record *> SampleRecords::const_pointers() const {
  const std::vector<Record *> all = pointers();
  return {all.begin(), all.end()};
}
