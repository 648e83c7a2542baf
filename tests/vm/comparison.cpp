#include "tests/vm/comparison.h"

#include <algorithm>

namespace vmafhip::test {

std::function<GstBuffer *()> Comparison::source(clipgen::Role role, const Change &change) const {
  const int pictures = std::min(this->pictures, frames);
  const auto clip = std::make_shared<clipgen::Generator>(clip_for(format, width, height, pictures));
  const GstVideoInfo info = video_info(format.name, width, height);
  return [=, frames = frames, layout = layout, n = 0]() mutable -> GstBuffer * {
    if (n == frames) return nullptr;
    GstBuffer *buffer =
        change(stamp(make_buffer(info, clip_planes(*clip, role, n % pictures), layout), n), n);
    ++n;
    return buffer;
  };
}

std::unique_ptr<Pipeline> Comparison::pipeline() const {
  std::string caps = caps_text(format.name, width, height);
  if (dmabuf_caps) caps.insert(caps.find(','), "(memory:DMABuf)");
  auto pipeline = std::make_unique<Pipeline>(
      "vmafhip name=v threads=2 " + properties +
      " ! fakesink name=sink async=false enable-last-sample=false appsrc name=ref caps=" + caps +
      " ! v.ref_sink appsrc name=dist caps=" + caps + " ! v.dist_sink");
  pipeline->feed("ref", source(clipgen::Role::reference, change_ref));
  pipeline->feed("dist", source(clipgen::Role::distorted, change_dist));
  return pipeline;
}

Bits Comparison::scores() const {
  const auto pipeline = this->pipeline();
  EXPECT_EQ(pipeline->run(), "eos") << (pipeline->errors.empty() ? "" : pipeline->errors[0]);
  EXPECT_EQ(pipeline->frames.size(), size_t(frames));
  return value_bits(*pipeline);
}

}  // namespace vmafhip::test
