// A pipeline that was stopped while a thread still brings it up stays down.
#include <glib/gstdio.h>
#include <gst/gst.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "examples/monitor/pipeline.h"

namespace {

using namespace monitor;

class PipelineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    gst_init(nullptr, nullptr);
    char *name = nullptr;
    const int file = g_file_open_tmp("monitor-pipeline-XXXXXX", &name, nullptr);
    ASSERT_GE(file, 0);
    close(file);
    name_ = name;
    g_free(name);
    channel_.reference = "file://" + name_;
    rendition_.uri = channel_.reference;
    std::string error;
    pipeline_ = Pipeline::create(channel_, rendition_, "", error);
    ASSERT_TRUE(pipeline_) << error;
  }
  void TearDown() override { g_unlink(name_.c_str()); }

  GstState state() const { return GST_STATE(GST_ELEMENT_PARENT(pipeline_->element())); }

  std::string name_;
  ChannelSettings channel_;
  RenditionSettings rendition_;
  std::shared_ptr<Pipeline> pipeline_;
};

TEST_F(PipelineTest, GoesUpAndDown) {
  pipeline_->play();
  EXPECT_GE(state(), GST_STATE_READY);
  pipeline_->stop();
  EXPECT_EQ(state(), GST_STATE_NULL);
}

TEST_F(PipelineTest, OnceStoppedItStaysDown) {
  pipeline_->stop();
  EXPECT_TRUE(pipeline_->play()) << "nothing is wrong with it";
  EXPECT_EQ(state(), GST_STATE_NULL);
}

}  // namespace
