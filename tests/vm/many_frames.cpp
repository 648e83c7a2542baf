#include "tests/vm/many_frames.h"

#include <fcntl.h>
#include <gst/allocators/gstdmabuf.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/dmabufs.h"
#include "tests/vm/kernel_witness.h"
#include "tests/vm/vgem.h"

namespace vmafhip::test {
namespace {

// The least that was seen while frames from..to came: what is under way goes up and down.
class Least {
 public:
  Least(int from, int to) : from_(from), to_(to) {}
  void look(int frame, long value) {
    if (frame >= from_ && frame < to_) value_ = value_ < 0 ? value : std::min(value_, value);
  }
  long value() const { return value_; }

 private:
  int from_, to_;
  long value_ = -1;
};

}  // namespace

ManyFrames::ManyFrames(How how, const std::string &backend, long growth_kib) : growth_kib_(growth_kib) {
  Comparison &c = comparison_;
  c.format = kNv12, c.frames = kFrames;
  c.width = 50, c.height = 34;
  c.dmabuf_caps = true;
  c.properties = "backend=" + backend + " model=\"\" features=psnr";
  // With pools a picture comes in another object each time.
  c.pictures = how == How::pools ? kObjects + 1 : kObjects;
  const GstVideoInfo info = video_info(c.format.name, c.width, c.height);
  for (Change *change : {&c.change_ref, &c.change_dist}) {
    Change place;
    if (how == How::pools) {
      pools_.push_back(object_pool(info, kObjects, vgem_object));
      place = [pool = pools_.back()](GstBuffer *buffer, int) { return from_pool(pool, buffer); };
    } else {
      auto kept = std::make_shared<std::vector<BufferPtr>>();
      place = [kept](GstBuffer *buffer, int n) {
        if (n < kObjects) {
          buffer = in_objects(buffer, {}, vgem_object);
          kept->push_back(adopt(gst_buffer_ref(buffer)));
          return buffer;
        }
        GstMemory *memory = gst_buffer_peek_memory((*kept)[size_t(n % kObjects)].get(), 0);
        const int fd = ::fcntl(gst_dmabuf_memory_get_fd(memory), F_DUPFD_CLOEXEC, 0);
        gst_buffer_replace_all_memory(buffer,
                                      dmabuf_memory(fd, gst_memory_get_sizes(memory, nullptr, nullptr)));
        return buffer;
      };
    }
    // No side runs ahead, so that none has to keep more buffers than there are.
    *change = [this, place](GstBuffer *buffer, int n) {
      KernelWitness::leave_out_this_thread();
      while (n > scored_ + 2 && !over_) g_usleep(1000);
      return place(buffer, n);
    };
  }
}

ManyFrames::~ManyFrames() {
  for (GstBufferPool *pool : pools_) gst_object_unref(pool);
}

std::pair<Reading, std::string> ManyFrames::run() {
  Comparison plain = comparison_;
  plain.dmabuf_caps = false;
  plain.change_ref = plain.change_dist = unchanged;
  plain.frames = comparison_.pictures;
  plain.properties = "backend=cpu" + plain.properties.substr(plain.properties.find(' '));
  const Bits expected = plain.scores();

  auto pipeline = comparison_.pipeline();
  Least memory[] = {{50, 100}, {150, 200}}, files[] = {{50, 100}, {150, 200}},
        maps[] = {{50, 100}, {150, 200}};
  int wrong = 0;
  scored_ = 0;
  EXPECT_TRUE(pipeline->play());
  const std::string end = pipeline->wait_until([&] {
    for (const StructurePtr &frame : pipeline->frames)
      wrong += value_bits(frame) != expected[size_t(scored_++) % expected.size()];
    pipeline->frames.clear();
    if (scored_ % 10 != 0) return false;
    for (Least &least : memory) least.look(scored_, allocated_kib());
    for (Least &least : files) least.look(scored_, open_descriptors());
    for (Least &least : maps) least.look(scored_, mappings());
    return false;
  });
  for (const StructurePtr &frame : pipeline->frames)
    wrong += value_bits(frame) != expected[size_t(scored_++) % expected.size()];
  EXPECT_EQ(end, "eos") << (pipeline->errors.empty() ? "" : pipeline->errors[0]);
  EXPECT_EQ(scored_, kFrames);
  EXPECT_EQ(wrong, 0);
  // Those of frames that are under way come and go; something of each would be two hundred.
  EXPECT_LE(memory[1].value() - memory[0].value(), growth_kib_) << "KiB in a hundred frames";
  EXPECT_LE(files[1].value() - files[0].value(), 20);
  EXPECT_LE(maps[1].value() - maps[0].value(), 20);
  std::pair<Reading, std::string> how{reading(*pipeline), backend(*pipeline)};
  // Should it have failed, sources may wait for scores or for buffers.
  over_ = true;
  for (GstBufferPool *pool : pools_) gst_buffer_pool_set_active(pool, FALSE);
  pipeline->stop();
  return how;
}

}  // namespace vmafhip::test
