"""A live source that a test can break in every way: Matroska with JPEG pictures over HTTP, without an end.

Every source shows the same programme, by the clock: noise of a few large blocks, of which no moment looks like another. What
it shows, and whether and how it sends, may change at any time.
"""
import pathlib
import random
import socket
import subprocess
import tempfile
import threading
import time

RATE = 25
FRAMES = 500  # then the programme begins anew
SIZE = (160, 90)
END = b"\xff\xd9"


def make_programme(frames=FRAMES):
    """The programme's pictures as JPEG, by what is shown."""
    width, height = SIZE
    kinds = {
        "good": "jpegenc quality=92",
        "bad": "jpegenc quality=3",
        "large": f"videoscale ! video/x-raw,width={2 * width},height={2 * height} ! jpegenc quality=92",
        "grey": "videoconvert ! video/x-raw,format=GRAY8 ! jpegenc quality=92",
    }
    with tempfile.TemporaryDirectory() as folder:
        branches = " ".join(f"t. ! queue ! {how} ! filesink location={folder}/{kind}" for kind, how in kinds.items())
        subprocess.run(
            ["gst-launch-1.0", "-q", *(f"videotestsrc pattern=snow num-buffers={frames} ! "
             "video/x-raw,format=I420,width=16,height=10 ! videoscale ! "
             f"video/x-raw,width={width},height={height},pixel-aspect-ratio=1/1 ! tee name=t {branches}").split()],
            check=True, stdin=subprocess.DEVNULL)
        # The marker of an end is nowhere within a picture.
        pictures = {kind: pathlib.Path(folder, kind).read_bytes().split(END)[:-1] for kind in kinds}
    assert all(len(of_kind) == frames for of_kind in pictures.values())
    return {kind: [picture + END for picture in of_kind] for kind, of_kind in pictures.items()}


# ---- Matroska -------------------------------------------------------------------------------------------

UNKNOWN_SIZE = b"\x01" + 7 * b"\xff"


def element(name, content):
    """EBML: an identifier, the content's size in eight bytes, the content."""
    if isinstance(content, int):
        content = content.to_bytes(8, "big")
    return bytes.fromhex(name) + b"\x01" + len(content).to_bytes(7, "big") + content


def matroska_header():
    header = element("1A45DFA3", element("4286", 1) + element("42F7", 1) + element("42F2", 4) + element("42F3", 8) +
                     element("4282", b"matroska") + element("4287", 2) + element("4285", 2))
    info = element("1549A966", element("2AD7B1", 1_000_000) + element("4D80", b"test") + element("5741", b"test"))
    video = element("E0", element("B0", SIZE[0]) + element("BA", SIZE[1]))
    tracks = element("1654AE6B", element("AE", element("D7", 1) + element("73C5", 1) + element("83", 1) +
                                         element("86", b"V_MJPEG") + video))
    return header + bytes.fromhex("18538067") + UNKNOWN_SIZE + info + tracks


def matroska_frame(milliseconds, picture):
    """A cluster of one key frame."""
    return element("1F43B675", element("E7", milliseconds) + element("A3", b"\x81\x00\x00\x80" + picture))


# ---- the source -----------------------------------------------------------------------------------------

class Source:
    begin = time.monotonic()  # of the programme, for all sources

    def __init__(self, programme, first=3_000):
        self.programme = programme
        self.first = first      # seconds: the programme's time stamps begin here
        self.kind = "good"      # what it shows
        self.every = 1          # every second frame: 2
        self.silent = False     # connected, and sends nothing
        self.broken = None      # "picture": damaged pictures; "stream": garbage between them
        self.port = 0
        self.listener = None
        self.connections = set()
        self.lock = threading.Lock()
        self.listen()

    @property
    def uri(self):
        return f"http://127.0.0.1:{self.port}/live.mkv"

    def listen(self):
        self.listener = socket.create_server(("127.0.0.1", self.port), reuse_port=False)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, args=(self.listener,), daemon=True).start()

    def refuse(self):
        """Nobody listens any more; those who are connected are sent away."""
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.hang_up()

    def hang_up(self):
        with self.lock:
            for connection in self.connections:
                connection.shutdown(socket.SHUT_RDWR)

    def accept(self, listener):
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with self.lock:
            self.connections.add(connection)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            connection.recv(4096)  # the request
            connection.sendall(b"HTTP/1.0 200 OK\r\nContent-Type: video/x-matroska\r\n\r\n" + matroska_header())
            number = int((time.monotonic() - self.begin) * RATE)
            while True:
                number += 1
                wait = self.begin + number / RATE - time.monotonic()
                if wait > 0:
                    time.sleep(wait)
                elif wait < -2:  # the reader is slow: a live source goes on
                    number = int((time.monotonic() - self.begin) * RATE)
                if not self.silent and number % self.every == 0:
                    connection.sendall(self.frame(number))
        except OSError:
            pass
        finally:
            with self.lock:
                self.connections.discard(connection)
            connection.close()

    def frame(self, number):
        pictures = self.programme[self.kind]
        picture = pictures[number % len(pictures)]
        noise = random.Random(number)
        if self.broken == "picture":  # its headers are left
            picture = picture[:len(picture) // 2] + noise.randbytes(len(picture) // 4) + picture[3 * len(picture) // 4:]
        sent = matroska_frame(int(self.first * 1000) + number * 1000 // RATE, picture)
        return noise.randbytes(len(sent)) if self.broken == "stream" else sent
