// Runs pipelines in tests and keeps what they say: frame and pooled messages, warnings, errors, and the
// buffers that leave the element. Pictures come from appsrc elements that a thread feeds.
#pragma once
#include <gst/gst.h>
#include <gst/video/video.h>

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "gst/vmafhip/handles.h"
#include "tests/clipgen/clipgen.h"

namespace vmafhip::test {

// ---- pictures as buffers -----------------------------------------------------------------------

// How a picture lies in its buffer.
struct Layout {
  int stride_padding = 0;       // bytes behind each row
  int plane_gap = 0;            // bytes before each plane
  bool video_meta = false;      // described by a GstVideoMeta (needed if there is padding)
  bool split_memories = false;  // one GstMemory a plane
};

// Samples of planes Y, U, V, row by row without padding.
using Planes = std::array<std::vector<uint16_t>, 3>;

// A buffer of `info`'s format that holds the planes; padding bytes are filled with noise. Formats without
// chroma take luma alone. `depth` of the samples must be the format's.
GstBuffer *make_buffer(const GstVideoInfo &info, const Planes &planes, const Layout &layout = {});
Planes clip_planes(const clipgen::Generator &clip, clipgen::Role role, int frame);
GstVideoInfo video_info(const char *format, int width, int height, int fps_n = 25, int fps_d = 1);
std::string caps_text(const char *format, int width, int height, int fps_n = 25, int fps_d = 1);

// ---- pipelines ---------------------------------------------------------------------------------

// What left the element's src pad, seen at the sink pad of the element named "out".
struct Out {
  GstClockTime pts;
  gint64 score_index;  // from its VmafHipScore meta, -1 without
  guint64 checksum;    // of its bytes
};

class Pipeline {
 public:
  // gst_parse_launch text; throws std::runtime_error if it does not parse.
  explicit Pipeline(const std::string &description);
  ~Pipeline();
  Pipeline(const Pipeline &) = delete;

  GstElement *element() const { return pipeline_; }
  GstElement *get(const char *name);  // borrowed; the pipeline keeps it
  // Feeds the appsrc `name` from a thread once it plays: next() gives buffers until null, then EOS follows.
  void feed(const char *name, std::function<GstBuffer *()> next);
  // The same with caps that may change on the way.
  void feed_samples(const char *name, std::function<GstSample *()> next);

  // To PLAYING (or `state`); false if the change fails at once.
  bool play(GstState state = GST_STATE_PLAYING);
  // Reads messages until EOS, an error or the limit; says which: "eos", "error", "timeout".
  std::string wait(double seconds = 60);
  // As wait(), but ends also when done() says so ("done"), checked after each message.
  std::string wait_until(const std::function<bool()> &done, double seconds = 60);
  std::string run(double seconds = 60) {
    if (!play()) {
      wait(1);
      return "error";
    }
    return wait(seconds);
  }
  void stop();                                 // to NULL
  bool stopped() const { return stopped_; }    // in or after stop(), for those who wait in next()
  size_t count_out();                          // out.size(), also while it plays
  size_t count_out(const std::string &event);  // events of that type, also while it plays
  void forget();                               // clears what was kept

  std::vector<StructurePtr> frames, pooled, resets, others;  // messages of vmafhip elements by type
  std::vector<std::string> warnings, errors;  // "text | debug"; errors of vmafhip elements come first
  std::vector<Out> out;
  std::vector<std::string> out_events;

 private:
  static GstPadProbeReturn probe(GstPad *, GstPadProbeInfo *info, gpointer self);
  void keep(GstMessage *message);

  GstElement *pipeline_ = nullptr;
  std::map<std::string, GstElement *> elements_;
  std::vector<std::function<void()>> feeds_;  // started by play()
  std::vector<std::thread> feeders_;
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;
};

guint64 number(const GstStructure *s, const char *field);   // guint64; fails the test if absent
guint64 stats_number(gpointer element, const char *field);  // of its `stats` as they are now
gint64 signed_number(const GstStructure *s, const char *field);
double real(const GstStructure *s, const char *field);
// A field of a nested structure, e.g. real_in(s, "models", "vmaf_v0.6.1").
double real_in(const GstStructure *s, const char *inner, const char *field);
// Like real_in, two levels down: pooled structures.
double pooled_in(const GstStructure *s, const char *inner, const char *name, const char *method);

// How many times slower than usual this process runs, as under valgrind: limits of time are multiplied by it. At least
// 1; VMAFHIP_TEST_SLOWNESS says.
double slowness();

// Memory in KiB that this process has asked for and not given back. Resident memory tells less: it depends on the arenas
// that threads happen to get. 0 under sanitizers.
long allocated_kib();
long resident_kib();

}  // namespace vmafhip::test
