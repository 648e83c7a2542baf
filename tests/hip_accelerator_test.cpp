// The GPU as an accelerator, on the simulated runtime, with metrics that need no kernels: they copy what they read to
// their results. The same sums as the workers' show that each plane is where and what it should be.
#include "engine/hip/accelerator.h"
#include "engine/hip/capacity.h"

#include <atomic>
#include <mutex>
#include <set>
#include <tuple>
#include <utility>

#include "engine/hip/device.h"
#include "tests/accelerator_run.h"
#include "tests/hipsim_control.h"

namespace vmafhip::hip {
namespace {

using namespace test;

constexpr size_t kBlock = 256;
size_t blocks(size_t bytes) { return (bytes + kBlock - 1) / kBlock * kBlock; }

// SumMetric on the device. Results are the planes that it reads, rows one after the other, which come there by way of the
// frame's memory.
class CopyMetric final : public HipMetric {
 public:
  struct Log {
    std::atomic<int> batches{0}, frames{0}, most{0};
    // Frames' memory of each metric, [begin, end): no two may share any.
    std::mutex mutex;
    std::set<std::tuple<uint64_t, uint64_t, const void *>> memory;

    void add(uint64_t begin, uint64_t end, const void *metric) {
      const std::lock_guard lock(mutex);
      for (const auto &[other_begin, other_end, other] : memory)
        EXPECT_TRUE(other == metric || end <= other_begin || other_end <= begin) << "memory is used twice";
      memory.emplace(begin, end, metric);
    }
  };
  CopyMetric(int strips, const Reads &reads, const PictureFormat &format, int distorted, Log &log)
      : strips_(strips), reads_(reads), format_(format), distorted_(distorted), log_(log) {}

  size_t frame_bytes() const override { return bytes(); }
  size_t result_bytes() const override { return bytes(); }

  void enqueue(const Stream &stream, std::span<const DeviceFrame> frames,
               const BatchMemory &memory) const override {
    ++log_.batches;
    log_.frames += int(frames.size());
    log_.most = std::max(log_.most.load(), int(frames.size()));
    log_.add(memory.frames.value, memory.frames.value + frames.size() * bytes(), this);
    for (size_t i = 0; i < frames.size(); ++i) {
      const auto own = memory.frames + int64_t(i * bytes()), result = memory.results + int64_t(i * bytes());
      size_t at = 0;
      each_plane(frames[i], [&](const DevicePlane &plane, size_t row, size_t rows) {
        if (plane.data) {
          stream.copy(own + int64_t(at), row, address_cast<const std::byte>(plane.data), size_t(plane.stride),
                      row, rows);
          stream.copy(result + int64_t(at), row, address_cast<const std::byte>(own + int64_t(at)), row, row,
                      rows);
        }
        at += row * rows;
      });
    }
  }

  void collect(const DeviceFrame &frame, const std::byte *results, std::byte *sums) const override {
    std::vector<Views> dist(static_cast<size_t>(distorted_)), earlier_dist(static_cast<size_t>(distorted_));
    FrameView view;
    const std::byte *at = results;
    const auto take = [&](Views &views, const DeviceViews &planes, PlaneSet set) {
      each_plane(planes, set, [&](int n, const DevicePlane &plane, size_t row, size_t rows) {
        const PlaneSize size = plane_size(format_, n);
        if (plane.data) views[size_t(n)] = {at, ptrdiff_t(row), size.width, size.height, format_.depth};
        at += row * rows;
      });
    };
    take(view.ref, frame.ref, reads_.ref);
    for (size_t i = 0; i < 2; ++i) take(view.earlier[i], frame.earlier[i], reads_.earlier[i]);
    for (size_t d = 0; d < dist.size(); ++d) {
      take(dist[d], frame.dist[d], reads_.dist);
      take(earlier_dist[d], frame.earlier_dist[d], reads_.earlier_dist);
    }
    view.index = frame.index;
    view.dist = dist;
    view.earlier_dist = earlier_dist;
    const size_t bytes = dist.size() * sizeof(Sums);
    const SumMetric metric(strips_, reads_);
    std::vector<std::byte> partial(bytes);
    std::memset(sums, 0, bytes);
    for (int strip = 0; strip < strips_; ++strip) {
      metric.measure(view, 0, strip, nullptr, nullptr, partial.data());
      for (size_t d = 0; d < bytes; d += sizeof(Sums)) add_integer_sums<Sums>(sums + d, partial.data() + d);
    }
  }

 private:
  // Calls with number, plane, bytes of a row, rows.
  template <class Each>
  void each_plane(const DeviceViews &planes, PlaneSet set, const Each &each) const {
    for (int n = 0; n < 3; ++n) {
      const PlaneSize size = plane_size(format_, n);
      if (set >> n & 1)
        each(n, planes[size_t(n)], size_t(size.width) * (format_.depth > 8 ? 2 : 1), size_t(size.height));
    }
  }
  template <class Each>
  void each_plane(const DeviceFrame &frame, const Each &each) const {
    const auto all = [&](const DeviceViews &planes, PlaneSet set) {
      each_plane(planes, set,
                 [&](int, const DevicePlane &plane, size_t row, size_t rows) { each(plane, row, rows); });
    };
    all(frame.ref, reads_.ref);
    for (size_t i = 0; i < 2; ++i) all(frame.earlier[i], reads_.earlier[i]);
    for (size_t d = 0; d < frame.dist.size(); ++d) {
      all(frame.dist[d], reads_.dist);
      all(frame.earlier_dist[d], reads_.earlier_dist);
    }
  }
  size_t bytes() const {
    DeviceFrame frame;
    const std::vector<DeviceViews> none(static_cast<size_t>(distorted_));
    frame.dist = frame.earlier_dist = none;
    size_t total = 0;
    each_plane(frame, [&](const DevicePlane &, size_t row, size_t rows) { total += row * rows; });
    return blocks(total);
  }

  const int strips_;
  const Reads reads_;
  const PictureFormat format_;
  const int distorted_;
  Log &log_;
};

class HipAcceleratorTest : public AcceleratorRun {
 protected:
  void SetUp() override {
    hipsim_.reset("");
    auto device = Device::open(-1);
    ASSERT_TRUE(device.ok()) << device.status().message();
    device_ = *device;
  }
  void TearDown() override {
    scheduler_.reset();
    pictures_.clear();
    device_.reset();
    EXPECT_EQ(hipsim_.leaks(), 0u);
    EXPECT_EQ(hipsim_.reports(), "");
  }
  Make on_gpu(int batch = 0) {
    return [this, batch](const FrameLayout &layout) {
      log_.memory.clear();
      HipBackend::Work work;
      for (size_t i = 0; i < case_.items.size(); ++i)
        if (case_.items[i].on_device)
          work.items.push_back({std::make_shared<CopyMetric>(1 + int(i), case_.items[i].reads, case_.format,
                                                             case_.distorted, log_),
                                sizeof(Sums), layout.sums_at(i, 0), case_.items[i].every_frame});
      work.format = case_.format;
      work.distorted = case_.distorted;
      work.subsample = case_.subsample;
      work.ref = layout.uploads_ref();
      work.dist = layout.uploads_dist();
      work.upload_bytes = layout.upload_bytes();
      work.threads = case_.threads;
      work.batch = batch;
      auto made = make_accelerator(device_, std::move(work));
      EXPECT_TRUE(made.ok()) << made.status().message();
      return made.ok() ? std::move(*made) : nullptr;
    };
  }
  // Of pictures in device memory, the noise lies there.
  Picture picture(const PictureFormat &format, uint32_t seed) override {
    if (case_.memory != MemoryKind::device) return AcceleratorRun::picture(format, seed);
    Picture picture = noise(format, seed, 0, MemoryKind::device);
    const Stream stream(*device_);
    auto planes = std::make_shared<std::vector<Buffer<std::byte>>>();
    for (Plane &plane : picture.planes) {
      if (!plane.data) continue;
      const auto bytes = size_t(plane.stride) * size_t(plane.height);
      const auto &buffer = planes->emplace_back(*device_, bytes);
      stream.upload(buffer.address(), bytes, plane.data, ptrdiff_t(bytes), bytes, 1);
      plane.data = reinterpret_cast<const void *>(buffer.address().value);
    }
    stream.synchronize();
    picture.owner = planes;
    return picture;
  }

  HipSim hipsim_;
  std::shared_ptr<Device> device_;
  std::vector<Picture> pictures_;
  CopyMetric::Log log_;
};

TEST_F(HipAcceleratorTest, SameSumsAsWorkersAlone) {
  std::vector<Case> all = cases();
  all.push_back({.items = {{kTemporal, true}, {Reads::both(kAllPlanes), true}},
                 .keeps = false,
                 .memory = MemoryKind::device});
  all.push_back({.items = {{kTemporal, true}, {Reads::both(kChroma), true, false}},
                 .distorted = 2,
                 .subsample = 2,
                 .keeps = false,
                 .memory = MemoryKind::device});
  for (const Case &given : all)
    for (const int batch : {0, 1, 3}) {
      SCOPED_TRACE(testing::Message() << "threads " << given.threads << ", distorted " << given.distorted
                                      << ", subsample " << given.subsample << ", batch " << batch);
      Case on_host = given;
      if (given.memory == MemoryKind::device) on_host.memory = MemoryKind::host;
      start(on_host, nullptr);
      const All expected = run(13);
      start(given, on_gpu(batch));
      expect_same(run(13), expected);
      scheduler_->clear();
      expect_same(run(13), expected);
    }
}

// Longer than the ring is.
TEST_F(HipAcceleratorTest, LongStreams) {
  const Case given = {.items = {{kTemporal, true}}};
  start(given, nullptr);
  const All expected = run(400);
  start(given, on_gpu(5));
  expect_same(run(400), expected);
  EXPECT_EQ(log_.frames, 400);
}

// While all lanes are taken, frames gather.
TEST_F(HipAcceleratorTest, BatchesAreWhatIsThere) {
  const Case given = {.items = {{kTemporal, true}}, .threads = 1};
  start(given, on_gpu(4));
  run(1);
  EXPECT_EQ(log_.batches, 1) << "a frame alone is not kept waiting";
  scheduler_->clear();
  for (uint64_t n = 0; n < 300; ++n) {
    while (!submit(n)) {
      EXPECT_TRUE(scheduler_->wait(n - uint64_t(scheduler_->slots())));
      scheduler_->release(n - uint64_t(scheduler_->slots()) + 1);
    }
  }
  EXPECT_TRUE(scheduler_->wait(299));
  EXPECT_EQ(log_.frames, 301);
  EXPECT_LE(log_.most, 4);
}

TEST_F(HipAcceleratorTest, FramesBetweenAreForWhoNeedsThem) {
  start({.items = {{Reads::both(kAllPlanes), true, false}, {kTemporal, true}}, .subsample = 3}, on_gpu());
  run(9);
  EXPECT_EQ(log_.frames, 9 + 3);
}

// Pinned pictures are gone with the frames that are dropped.
TEST_F(HipAcceleratorTest, ClearAtAnyTime) {
  for (const MemoryKind memory : {MemoryKind::host, MemoryKind::pinned}) {
    start({.threads = 3, .memory = memory}, on_gpu(2));
    const All expected = run(6);
    for (int round = 0; round < 100; ++round) {
      scheduler_->clear();
      for (int n = 0; n < round % 9; ++n) submit(uint64_t(n + 50));
      if (round % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(round));
      scheduler_->clear();
      if (round % 10 == 0) expect_same(run(6), expected);
    }
  }
}

TEST_F(HipAcceleratorTest, EndsWithFramesInFlight) {
  for (int round = 0; round < 30; ++round) {
    start({.threads = 2}, on_gpu());
    for (int n = 0; n < round % 8; ++n) submit(uint64_t(n));
    scheduler_.reset();
  }
}

// ---- Memory -----------------------------------------------------------------------------------------------

TEST_F(HipAcceleratorTest, CapacityGoesByTheSizeOfPictures) {
  const auto of = [](int width, int height, int distorted = 1, int asked = 0) {
    return Capacity::of({width, height, 8, Chroma::c420}, distorted, 4, asked);
  };
  EXPECT_EQ(of(3840, 2160).batch, 4);
  EXPECT_EQ(of(1920, 1080).batch, 16);
  EXPECT_EQ(of(576, 324).batch, 32);
  EXPECT_EQ(of(16, 16).batch, 32);
  EXPECT_EQ(of(32768, 32768).batch, 1);
  EXPECT_EQ(of(1920, 1080, 4).batch, 4);
  EXPECT_EQ(of(16, 16, 4).batch, 8) << "a launch takes 32 pairs";
  EXPECT_EQ(of(16, 16, 64).batch, 1);
  EXPECT_EQ(of(3840, 2160, 1, 7).batch, 7);
  for (Capacity c : {of(16, 16), of(1920, 1080), of(3840, 2160)}) {
    EXPECT_GE(c.places, c.lanes * c.batch + c.batch);
    int steps = 0;
    for (Capacity before = c; c.reduce(4); before = c, ++steps) {
      EXPECT_LE(c.lanes * c.batch, before.lanes * before.batch);
      EXPECT_LT(c.places, before.places);
      EXPECT_GE(c.places, 2);
    }
    EXPECT_LT(steps, 16);
    EXPECT_EQ(c.places, 2);
    EXPECT_EQ(c.lanes * c.batch, 1);
  }
}

// A device that has too little for all that would be good has enough for less.
TEST_F(HipAcceleratorTest, LessMemoryLessAtATime) {
  const Case given = {.items = {{kTemporal, true}}, .format = {320, 200, 8, Chroma::c420}};
  start(given, nullptr);
  const All expected = run(9);
  std::set<int> places;
  for (const char *memory : {"2G", "20M", "8M", "3M"}) {
    scheduler_.reset();
    hipsim_.reset(std::string("memory=") + memory);
    start(given, on_gpu());
    places.insert(scheduler_->accelerator()->places());
    expect_same(run(9), expected);
  }
  EXPECT_EQ(places.size(), 4u) << "as many at a time as memory allows";
}

// Memory is taken when it is needed: frames that come one by one need little of it.
TEST_F(HipAcceleratorTest, FramesOneByOneTakeLittleMemory) {
  const Case given = {.items = {{kTemporal, true}}, .format = {320, 200, 8, Chroma::c420}};
  start(given, on_gpu());
  const auto bytes = [&] {
    return std::pair(scheduler_->accelerator()->device_bytes(), scheduler_->accelerator()->pinned_bytes());
  };
  const auto measure = [&](uint64_t first, uint64_t end, bool one_by_one) {
    for (uint64_t n = first; n < end; ++n) {
      submit(n);
      if (one_by_one || n + 1 == end) scheduler_->wait(n);
    }
    scheduler_->release(end);
  };
  measure(0, 5, true);
  const auto few = bytes();
  measure(5, 40, true);
  EXPECT_EQ(bytes(), few);
  measure(40, 100, false);
  EXPECT_GT(bytes(), few);
}

// What is free when a stream begins may be somebody else's when frames wait.
TEST_F(HipAcceleratorTest, MemoryThatIsShortLaterOnIsDoneWithout) {
  const Case given = {.items = {{kTemporal, true}}, .format = {320, 200, 8, Chroma::c420}};
  start(given, nullptr);
  const All expected = run(40);
  for (const char *nth : {"1", "2", "3", "5"}) {
    start(given, on_gpu());
    takeovers_ = 0;
    hipsim_.configure(std::string("fail=malloc:") + nth + "+");
    expect_same(run(40), expected);
    EXPECT_TRUE(scheduler_->failure().ok());
    EXPECT_EQ(takeovers_, 0);
    scheduler_.reset();
    hipsim_.reset("");
  }
}

// One of many sessions takes its share.
TEST_F(HipAcceleratorTest, ManySessionsHaveLessInProgressEach) {
  const Case given = {.items = {{kTemporal, true}}, .format = {1920, 1080, 8, Chroma::c420}};
  start(given, on_gpu());
  const int alone = scheduler_->accelerator()->places();
  scheduler_.reset();
  {
    std::vector<std::shared_ptr<Device>> others;
    for (int i = 0; i < 31; ++i) others.push_back(*Device::open(device_->number()));
    EXPECT_EQ(device_->users(), 32);
    start(given, on_gpu());
    EXPECT_LT(scheduler_->accelerator()->places(), alone / 4);
    EXPECT_GE(scheduler_->accelerator()->places(), 2);
    scheduler_.reset();
  }
  EXPECT_EQ(device_->users(), 1);
  start(given, on_gpu());
  EXPECT_EQ(scheduler_->accelerator()->places(), alone);
}

TEST_F(HipAcceleratorTest, TooLittleMemoryIsSaid) {
  hipsim_.reset("memory=64K");
  HipBackend::Work work;
  work.items.push_back(
      {std::make_shared<CopyMetric>(1, kTemporal, PictureFormat{320, 200}, 1, log_), sizeof(Sums), 0, true});
  work.format = {320, 200};
  work.ref = work.dist = kLuma;
  work.upload_bytes = 2 * 320 * 200;
  const auto made = make_accelerator(device_, std::move(work));
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.status().code(), Code::resource);
  for (const char *word : {"not enough memory", "1 MiB", "backend=cpu", "device"})
    EXPECT_NE(made.status().message().find(word), std::string::npos) << made.status().message();
}

// ---- Failure ----------------------------------------------------------------------------------------------

TEST_F(HipAcceleratorTest, WorkersGoOnWhereACallFails) {
  const Case given = {.items = {{kTemporal, true}, {Reads::both(kLuma), false}}};
  start(given, nullptr);
  const All expected = run(12);
  int failures = 0;
  for (const char *kind : {"copy", "sync", "lost", "event"})
    for (int nth = 1; nth < 160; nth += 1 + nth / 4) {
      SCOPED_TRACE(testing::Message() << kind << ":" << nth);
      start(given, on_gpu(2));
      takeovers_ = 0;
      hipsim_.configure(std::string("fail=") + kind + ":" + std::to_string(nth));
      expect_same(run(12), expected);
      EXPECT_LE(takeovers_, 1);
      failures += takeovers_;
      scheduler_.reset();
      hipsim_.reset("");
    }
  EXPECT_GT(failures, 20);
}

TEST_F(HipAcceleratorTest, NothingHangsWhenACallFails) {
  const Case given = {.items = {{kTemporal, true}}, .keeps = false};
  for (const char *kind : {"copy", "sync", "lost"})
    for (const int nth : {1, 2, 5, 17, 30}) {
      start(given, on_gpu(2));
      hipsim_.configure(std::string("fail=") + kind + ":" + std::to_string(nth));
      const size_t done = run(12).size();
      if (done < 12) {
        EXPECT_FALSE(scheduler_->failure().ok());
        EXPECT_NE(scheduler_->failure().message().find("hip"), std::string::npos)
            << scheduler_->failure().message();
        EXPECT_FALSE(scheduler_->has_room());
      }
      scheduler_->clear();
      hipsim_.reset("");
      configure(on_gpu(2));
      EXPECT_EQ(run(12).size(), 12u);
      scheduler_.reset();
    }
}

}  // namespace
}  // namespace vmafhip::hip
