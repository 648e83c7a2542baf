// Frames a second of the element in pipelines of its own: pictures come from memory, of the host or of a CUDA context, as
// buffers that share it, made by the threads that push them, so that nothing but the element works. Prints a line of JSON;
// tests/gpu_element.sh makes a table.
//
// gstcuda is found by name, so that this is built without its headers.
#include <dirent.h>
#include <dlfcn.h>
#include <gst/app/gstappsrc.h>
#include <gst/video/video.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "gst/vmafhip/handles.h"

namespace {

using namespace vmafhip;
using Clock = std::chrono::steady_clock;

constexpr int kPictures = 6;  // of each stream, over and over
// Of GStreamer's locks of a memory there are 255, and each reader has one: no more pipelines share the same pictures.
constexpr int kSharing = 4;
constexpr guint kMapCuda = guint(GST_MAP_FLAG_LAST) << 1;

struct Options {
  std::string size = "1920x1080", format = "I420", memory = "system", backend = "hip", properties;
  int frames = 300, warmup = 100, pipelines = 1, threads = 0;
};

[[noreturn]] void give_up(const std::string &why) { throw std::runtime_error(why); }

// ---- Memory ------------------------------------------------------------------------------------------------

struct CudaLibrary {
  void *library = nullptr;
  template <class Function>
  Function *get(const char *name) {
    if (!library) library = ::dlopen("libgstcuda-1.0.so.0", RTLD_NOW);
    if (!library) give_up(::dlerror());
    void *symbol = ::dlsym(library, name);
    if (!symbol) give_up(std::string("gstcuda has no ") + name);
    return reinterpret_cast<Function *>(symbol);
  }
};

// The context that the element offers its neighbours, or one of our own.
GstObject *cuda_context(CudaLibrary &cuda, GstElement *element, bool offered) {
  if (!cuda.get<gboolean()>("gst_cuda_load_library")()) give_up("there is no CUDA");
  cuda.get<void()>("gst_cuda_memory_init_once")();  // what pools allocate from
  if (!offered) return cuda.get<GstObject *(guint)>("gst_cuda_context_new")(0);
  GstQuery *query = gst_query_new_context("gst.cuda.context");
  GstPad *pad = gst_element_get_static_pad(element, "ref_sink");
  GstContext *context = nullptr;
  if (gst_pad_query(pad, query)) gst_query_parse_context(query, &context);
  gst_object_unref(pad);
  if (!context) give_up("the element offers no CUDA context");
  const GValue *value = gst_structure_get_value(gst_context_get_structure(context), "gst.cuda.context");
  auto *object = value ? static_cast<GstObject *>(g_value_dup_object(value)) : nullptr;
  gst_query_unref(query);
  return object;
}

// A moving picture with texture; the distorted one has less of it.
void draw(GstBuffer *buffer, const GstVideoInfo &info, int number, bool distorted) {
  GstVideoFrame frame;
  if (!gst_video_frame_map(&frame, const_cast<GstVideoInfo *>(&info), buffer, GST_MAP_WRITE))
    give_up("a buffer cannot be filled");
  const int depth = GST_VIDEO_FORMAT_INFO_DEPTH(info.finfo, 0);
  const int shift = GST_VIDEO_FORMAT_INFO_SHIFT(info.finfo, 0);
  for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS(&info); ++c) {
    const int width = GST_VIDEO_FRAME_COMP_WIDTH(&frame, c), height = GST_VIDEO_FRAME_COMP_HEIGHT(&frame, c);
    const int step = GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, c), stride = GST_VIDEO_FRAME_COMP_STRIDE(&frame, c);
    auto *rows =
        static_cast<guint8 *>(GST_VIDEO_FRAME_PLANE_DATA(&frame, GST_VIDEO_FORMAT_INFO_PLANE(info.finfo, c)));
    // P010's second sample of a pair is a word behind the first, whatever GStreamer's offset says.
    if (GST_VIDEO_FORMAT_INFO_POFFSET(info.finfo, c) > 0) rows += depth > 8 ? 2 : 1;
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        const int coarse = distorted ? 4 : 1;  // it is of larger squares
        const unsigned a = unsigned(x / coarse * coarse + 3 * number);
        const unsigned b = unsigned(y / coarse * coarse + 2 * number);
        unsigned value = 60 + ((a * a / 512 + b * b / 384) & 127);
        value += (a * 2654435761u ^ b * 40503u) >> 29;
        value = value << (depth - 8) << shift;
        guint8 *at = rows + gssize(y) * stride + gssize(x) * step;
        at[0] = guint8(value);
        if (depth > 8) at[1] = guint8(value >> 8);
      }
  }
  gst_video_frame_unmap(&frame);
}

std::vector<BufferPtr> make_pictures(const GstVideoInfo &info, GstBufferPool *pool, bool distorted,
                                     bool on_gpu) {
  std::vector<BufferPtr> pictures;
  for (int n = 0; n < kPictures; ++n) {
    GstBuffer *buffer = nullptr;
    if (gst_buffer_pool_acquire_buffer(pool, &buffer, nullptr) != GST_FLOW_OK) give_up("no buffer");
    draw(buffer, info, n, distorted);
    // To where it is to be, now rather than when it is first read.
    GstMapInfo map;
    if (on_gpu && gst_buffer_map(buffer, &map, GstMapFlags(GST_MAP_READ | kMapCuda)))
      gst_buffer_unmap(buffer, &map);
    pictures.push_back(adopt(buffer));
  }
  return pictures;
}

// ---- Pipelines ---------------------------------------------------------------------------------------------

struct Feed {
  const std::vector<BufferPtr> *pictures = nullptr;
  int frames = 0, next = 0;
};

// What all pipelines together have done, and what it took.
struct Progress {
  guint64 frames = 0;
  Clock::time_point time;
  rusage usage{};
};

// The stretch in which all pipelines run as they will for hours: buffers, threads and memory for what is in flight are
// there, and none has ended.
class Steady {
 public:
  void start(const Options &options) { options_ = &options; }
  // A pipeline has its `n`th score; any thread.
  void scored(int n) {
    const guint64 frames = ++frames_;
    if (n == options_->warmup && ++warm_ == options_->pipelines) begin_ = now(frames);
    if (n == options_->frames && ++ended_ == 1) end_ = now(frames);
  }
  // Per frame, 0 if there was no such stretch.
  double fps() const { return seconds() > 0 ? frames() / seconds() : 0; }
  double switches() const {
    return per_frame([](const rusage &u) { return double(u.ru_nvcsw + u.ru_nivcsw); });
  }
  double cpu_us() const {
    const auto us = [](const timeval &t) { return double(t.tv_sec) * 1e6 + double(t.tv_usec); };
    return per_frame([us](const rusage &u) { return us(u.ru_utime) + us(u.ru_stime); });
  }

 private:
  static Progress now(guint64 frames) {
    Progress progress{frames, Clock::now(), {}};
    getrusage(RUSAGE_SELF, &progress.usage);
    return progress;
  }
  double frames() const { return double(end_.frames) - double(begin_.frames); }
  double seconds() const { return std::chrono::duration<double>(end_.time - begin_.time).count(); }
  template <class Of>
  double per_frame(Of of) const {
    return seconds() > 0 ? (of(end_.usage) - of(begin_.usage)) / frames() : 0;
  }

  const Options *options_ = nullptr;
  std::atomic<guint64> frames_{0};
  std::atomic<int> warm_{0}, ended_{0};
  Progress begin_, end_;
};
Steady steady;

struct Run {
  GstElement *pipeline = nullptr, *element = nullptr;
  std::array<GstElement *, 2> sources{};
  std::array<Feed, 2> feeds;
  // Of the scores in every bit, in their order, as frame messages come.
  guint64 scores = 0xcbf29ce484222325, frames = 0;
  double last = 0;
};

GstBusSyncReply listen(GstBus *, GstMessage *message, gpointer data) {
  auto &run = *static_cast<Run *>(data);
  const GstStructure *s = gst_message_get_structure(message);
  if (GST_MESSAGE_TYPE(message) != GST_MESSAGE_ELEMENT ||
      g_strcmp0(gst_structure_get_string(s, "type"), "frame") != 0)
    return GST_BUS_PASS;
  guint64 bits = 0;
  gst_structure_get_double(s, "score", &run.last);
  std::memcpy(&bits, &run.last, sizeof bits);
  run.scores = (run.scores ^ bits) * 0x100000001b3;
  steady.scored(int(++run.frames));
  gst_message_unref(message);
  return GST_BUS_DROP;
}

void make(Run &run, const Options &options) {
  GError *error = nullptr;
  const std::string text =
      "appsrc name=ref format=time ! v.ref_sink appsrc name=dist format=time ! v.dist_sink "
      "vmafhip name=v backend=" +
      options.backend + " " + options.properties + " ! fakesink sync=false async=false";
  run.pipeline = gst_parse_launch(text.c_str(), &error);
  if (!run.pipeline || error) give_up(error ? error->message : text);
  GstBin *bin = GST_BIN(run.pipeline);
  run.element = gst_bin_get_by_name(bin, "v");
  run.sources = {gst_bin_get_by_name(bin, "ref"), gst_bin_get_by_name(bin, "dist")};
  GstBus *bus = gst_element_get_bus(run.pipeline);
  gst_bus_set_sync_handler(bus, listen, &run, nullptr);
  gst_object_unref(bus);
  if (gst_element_set_state(run.pipeline, GST_STATE_READY) == GST_STATE_CHANGE_FAILURE) give_up("not READY");
}

// Called by the source's own thread when it has nothing to push.
void feed(GstAppSrc *source, guint, gpointer data) {
  Feed &feed = *static_cast<Feed *>(data);
  if (feed.next == feed.frames) {
    gst_app_src_end_of_stream(source);
    return;
  }
  const auto n = size_t(feed.next++);
  GstBuffer *buffer = gst_buffer_copy((*feed.pictures)[n % feed.pictures->size()].get());
  GST_BUFFER_PTS(buffer) = GstClockTime(n) * GST_SECOND / 50;
  GST_BUFFER_DURATION(buffer) = GST_SECOND / 50;
  gst_app_src_push_buffer(source, buffer);
}

void await_end(const Run &run) {
  GstBus *bus = gst_element_get_bus(run.pipeline);
  GstMessage *message = gst_bus_timed_pop_filtered(bus, GST_CLOCK_TIME_NONE,
                                                   GstMessageType(GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
  gst_object_unref(bus);
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
    GError *error = nullptr;
    gst_message_parse_error(message, &error, nullptr);
    give_up(error->message);
  }
  gst_message_unref(message);
}

guint64 count(const GstStructure *stats, const char *name) {
  guint64 value = 0;
  gst_structure_get_uint64(stats, name, &value);
  return value;
}

// Of each thread since it began, those that took most first: processor time and turns a frame. The kernel's names for
// them are GStreamer's for its streaming threads; others have that of the program.
void list_threads(int frames) {
  struct Thread {
    std::string name;
    double us = 0;
    long voluntary = 0, involuntary = 0;
  };
  std::vector<Thread> threads;
  DIR *tasks = opendir("/proc/self/task");
  for (const dirent *task = tasks ? readdir(tasks) : nullptr; task; task = readdir(tasks)) {
    if (task->d_name[0] == '.') continue;
    const std::string folder = std::string("/proc/self/task/") + task->d_name;
    Thread thread;
    std::ifstream status(folder + "/status"), schedule(folder + "/schedstat");
    for (std::string word; status >> word;) {
      if (word == "Name:") status >> thread.name;
      if (word == "voluntary_ctxt_switches:") status >> thread.voluntary;
      if (word == "nonvoluntary_ctxt_switches:") status >> thread.involuntary;
    }
    schedule >> thread.us;
    thread.us /= 1000;
    threads.push_back(thread);
  }
  if (tasks) closedir(tasks);
  std::sort(threads.begin(), threads.end(), [](const Thread &a, const Thread &b) { return a.us > b.us; });
  for (const Thread &thread : threads)
    std::fprintf(stderr, "%-16s %8.2f us, %6.3f + %6.3f switches a frame\n", thread.name.c_str(),
                 thread.us / frames, double(thread.voluntary) / frames, double(thread.involuntary) / frames);
}

int measure(const Options &options) {
  GstVideoInfo info;
  int width = 0, height = 0;
  if (std::sscanf(options.size.c_str(), "%dx%d", &width, &height) != 2) give_up("--size WIDTHxHEIGHT");
  gst_video_info_set_format(&info, gst_video_format_from_string(options.format.c_str()), guint(width),
                            guint(height));
  GST_VIDEO_INFO_FPS_N(&info) = 50;
  std::vector<Run> runs(size_t(options.pipelines));
  for (Run &run : runs) make(run, options);

  const CapsPtr caps(gst_video_info_to_caps(&info));
  GstBufferPool *pool = nullptr;
  if (options.memory == "system") {
    pool = gst_video_buffer_pool_new();
  } else {
    CudaLibrary cuda;
    gst_caps_set_features_simple(caps.get(), gst_caps_features_from_string("memory:CUDAMemory"));
    GstObject *context = cuda_context(cuda, runs[0].element, options.memory == "cuda");
    if (!context) give_up("no CUDA context");
    pool = cuda.get<GstBufferPool *(GstObject *)>("gst_cuda_buffer_pool_new")(context);
    gst_object_unref(context);
  }
  GstStructure *config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, caps.get(), guint(GST_VIDEO_INFO_SIZE(&info)), 0, 0);
  gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  if (!gst_buffer_pool_set_config(pool, config) || !gst_buffer_pool_set_active(pool, TRUE))
    give_up("no pool");
  const bool on_gpu = options.memory != "system";
  std::vector<std::array<std::vector<BufferPtr>, 2>> pictures(size_t(options.pipelines + kSharing - 1) /
                                                              kSharing);
  for (auto &both : pictures)
    both = {make_pictures(info, pool, false, on_gpu), make_pictures(info, pool, true, on_gpu)};

  GstAppSrcCallbacks callbacks{};
  callbacks.need_data = feed;
  for (size_t n = 0; n < runs.size(); ++n) {
    Run &run = runs[n];
    for (size_t i = 0; i < 2; ++i) {
      run.feeds[i] = {&pictures[n / kSharing][i], options.frames};
      gst_app_src_set_caps(GST_APP_SRC(run.sources[i]), caps.get());
      gst_app_src_set_callbacks(GST_APP_SRC(run.sources[i]), &callbacks, &run.feeds[i], nullptr);
    }
  }
  steady.start(options);
  const auto begin = Clock::now();
  for (Run &run : runs)
    if (gst_element_set_state(run.pipeline, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE) await_end(run);
  for (Run &run : runs) await_end(run);
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  if (options.threads) list_threads(options.pipelines * options.frames);

  GstStructure *stats = nullptr;
  g_object_get(runs[0].element, "stats", &stats, nullptr);
  std::map<std::string, guint64> sums;
  bool alike = true;
  for (Run &run : runs) {
    GstStructure *each = nullptr;
    g_object_get(run.element, "stats", &each, nullptr);
    for (const char *name : {"imported", "registered", "mapped", "copied", "held-copied"})
      sums[name] += count(each, name);
    gst_structure_free(each);
    alike = alike && run.scores == runs[0].scores && run.frames == guint64(options.frames);
    gst_element_set_state(run.pipeline, GST_STATE_NULL);
  }
  std::printf(
      "{\"size\":\"%s\",\"format\":\"%s\",\"memory\":\"%s\",\"backend\":\"%s\",\"pipelines\":%d,"
      "\"frames\":%d,\"seconds\":%.3f,\"fps\":%.1f,\"steady_fps\":%.1f,\"switches_per_frame\":%.3f,"
      "\"cpu_us_per_frame\":%.1f,\"score\":%.6f,\"scores\":\"%016llx\",\"alike\":%s",
      options.size.c_str(), options.format.c_str(), options.memory.c_str(),
      gst_structure_get_string(stats, "backend"), options.pipelines, options.frames, seconds,
      options.pipelines * options.frames / seconds, steady.fps(), steady.switches(), steady.cpu_us(),
      runs[0].last, (unsigned long long)runs[0].scores, alike ? "true" : "false");
  for (const auto &[name, sum] : sums) std::printf(",\"%s\":%llu", name.c_str(), (unsigned long long)sum);
  std::printf("}\n");
  gst_structure_free(stats);
  for (Run &run : runs) {
    for (GstElement *source : run.sources) gst_object_unref(source);
    gst_object_unref(run.element);
    gst_object_unref(run.pipeline);
  }
  gst_buffer_pool_set_active(pool, FALSE);
  gst_object_unref(pool);
  return alike ? 0 : 1;
}

}  // namespace

int main(int argc, char **argv) {
  gst_init(&argc, &argv);
  Options options;
  const std::map<std::string, std::string *> texts = {{"--size", &options.size},
                                                      {"--format", &options.format},
                                                      {"--memory", &options.memory},
                                                      {"--backend", &options.backend},
                                                      {"--properties", &options.properties}};
  const std::map<std::string, int *> numbers = {{"--frames", &options.frames},
                                                {"--warmup", &options.warmup},
                                                {"--pipelines", &options.pipelines},
                                                {"--threads", &options.threads}};
  for (int i = 1; i + 1 < argc; i += 2) {
    if (const auto text = texts.find(argv[i]); text != texts.end()) {
      *text->second = argv[i + 1];
    } else if (const auto number = numbers.find(argv[i]); number != numbers.end()) {
      *number->second = std::max(1, std::atoi(argv[i + 1]));
    } else {
      std::fprintf(
          stderr,
          "usage: element_bench [--size WxH] [--format I420] [--memory system|cuda|foreign]\n"
          "                     [--backend hip|cpu] [--properties TEXT] [--frames N] [--pipelines N]\n"
          "                     [--warmup N] [--threads 1]\n"
          "cuda: of the context that the element offers; foreign: of another one. steady_fps and all that is "
          "said\n"
          "per frame is of what follows the first --warmup frames of each pipeline, as long as all of them "
          "run.\n"
          "--threads 1 lists what each thread has taken.\n");
      return 2;
    }
  }
  try {
    return measure(options);
  } catch (const std::runtime_error &error) {
    std::fprintf(stderr, "element_bench: %s\n", error.what());
    std::_Exit(1);
  }
}
