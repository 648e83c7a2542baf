// The result file over the element's life: restarts, resets, ends without EOS, FIFOs that nobody reads. What stands in it
// is compared with messages by results_files_test.py; its layouts and its writer are tested in results_test.cpp.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include <nlohmann/json.hpp>

#include "tests/pipeline.h"
#include "tests/scratch_folder.h"

namespace vmafhip::test {
namespace {

using nlohmann::json;

class ResultsFileOfElement : public testing::Test {
 protected:
  std::string path(const std::string &name) const { return folder_.path(name); }

  const ScratchFolder folder_;
};

std::string pair_of(int frames, const std::string &settings, bool live = false) {
  const std::string caps = caps_text("I420", 64, 64), n = std::to_string(frames);
  const std::string source = "videotestsrc pattern=ball num-buffers=" + n + (live ? " is-live=true" : "");
  return "vmafhip name=v " + settings + " ! fakesink name=out " + source + " ! " + caps + " ! v.ref_sink " +
         source + " background-color=0xff202020 ! " + caps + " ! v.dist_sink";
}

std::string contents(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The frames of a JSON file are those of the messages.
void expect_frames(const json &file, const std::vector<StructurePtr> &frames) {
  ASSERT_EQ(file["frames"].size(), frames.size());
  for (size_t n = 0; n < frames.size(); ++n) {
    EXPECT_EQ(file["frames"][n]["frameNum"], number(frames[n].get(), "frame-number"));
    EXPECT_NEAR(file["frames"][n]["metrics"]["vmaf_v0.6.1"].get<double>(), real(frames[n].get(), "score"),
                1e-6);
  }
}

TEST_F(ResultsFileOfElement, IsCompleteWhenTheEndIsTold) {
  Pipeline pipeline(pair_of(5, "results-filename=" + path("r.json")));
  ASSERT_TRUE(pipeline.play());
  ASSERT_EQ(pipeline.wait_until([&] { return !pipeline.pooled.empty(); }), "done");
  const json file = json::parse(contents(path("r.json")));  // the element still runs
  expect_frames(file, pipeline.frames);
  EXPECT_EQ(file["counters"]["scored"], 5);
}

TEST_F(ResultsFileOfElement, BeginsAnewWithTheElement) {
  Pipeline pipeline(pair_of(5, "results-filename=" + path("r.json")));
  for (int round = 0; round < 3; ++round) {
    ASSERT_EQ(pipeline.run(), "eos");
    pipeline.stop();
    expect_frames(json::parse(contents(path("r.json"))), pipeline.frames);
    pipeline.forget();
  }
  pipeline.play(GST_STATE_READY);  // opens nothing yet
  pipeline.stop();
  EXPECT_EQ(json::parse(contents(path("r.json")))["frames"].size(), 5u);
}

TEST_F(ResultsFileOfElement, GoesOnWhenCapsChange) {
  const auto source = [] {
    return [i = 0]() mutable -> GstSample * {
      if (i == 10) return nullptr;
      const int size = i < 5 ? 64 : 96;
      Planes planes;
      planes[0].assign(size_t(size) * size_t(size), 0);
      for (size_t k = 0; k < planes[0].size(); ++k) planes[0][k] = uint16_t(k * 31 % 251);
      GstBuffer *buffer = make_buffer(video_info("GRAY8", size, size), planes);
      GST_BUFFER_PTS(buffer) = GstClockTime(i++) * 40 * GST_MSECOND;
      GST_BUFFER_DURATION(buffer) = 40 * GST_MSECOND;
      GstCaps *caps = gst_caps_from_string(caps_text("GRAY8", size, size).c_str());
      GstSample *sample = gst_sample_new(buffer, caps, nullptr, nullptr);
      gst_caps_unref(caps);
      gst_buffer_unref(buffer);
      return sample;
    };
  };
  Pipeline pipeline("vmafhip name=v results-filename=" + path("r.json") +
                    " ! fakesink name=out appsrc name=ref ! v.ref_sink appsrc name=dist ! v.dist_sink");
  pipeline.feed_samples("ref", source());
  pipeline.feed_samples("dist", source());
  ASSERT_EQ(pipeline.run(), "eos");
  ASSERT_EQ(pipeline.pooled.size(), 2u);
  ASSERT_EQ(pipeline.frames.size(), 10u);
  const json file = json::parse(contents(path("r.json")));
  expect_frames(file, pipeline.frames);
  double sum = 0;  // over both runs
  for (const auto &frame : pipeline.frames) sum += real(frame.get(), "score");
  EXPECT_NEAR(file["pooled_metrics"]["vmaf_v0.6.1"]["mean"].get<double>(), sum / 10, 1e-6);
}

TEST_F(ResultsFileOfElement, GoesOnAfterASeekFromTheEnd) {
  Pipeline pipeline(pair_of(-1, "results-filename=" + path("r.json")));
  ASSERT_TRUE(pipeline.play(GST_STATE_PAUSED));
  ASSERT_EQ(gst_element_get_state(pipeline.element(), nullptr, nullptr, 20 * GST_SECOND),
            GST_STATE_CHANGE_SUCCESS);
  ASSERT_TRUE(pipeline.play());
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(gst_element_seek(pipeline.element(), 1, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH,
                                 GST_SEEK_TYPE_SET, 0, GST_SEEK_TYPE_SET, 400 * GST_MSECOND));
    ASSERT_EQ(pipeline.wait(), "eos");
    ASSERT_GE(pipeline.frames.size(), size_t(round + 1) * 10);
    expect_frames(json::parse(contents(path("r.json"))), pipeline.frames);
  }
}

TEST_F(ResultsFileOfElement, StoppedInMidStream) {
  Pipeline pipeline(pair_of(-1, "results-filename=" + path("r.json")));
  ASSERT_TRUE(pipeline.play());
  ASSERT_EQ(pipeline.wait_until([&] { return pipeline.frames.size() > 20; }), "done");
  pipeline.stop();
  EXPECT_GT(json::parse(contents(path("r.json")))["frames"].size(), 20u);
}

TEST_F(ResultsFileOfElement, TakenOutOfARunningPipeline) {
  Pipeline pipeline(pair_of(-1, "results-filename=" + path("r.json"), true));
  ASSERT_TRUE(pipeline.play());
  ASSERT_EQ(pipeline.wait_until([&] { return pipeline.frames.size() > 3; }), "done");
  GstElement *element = GST_ELEMENT(gst_object_ref(pipeline.get("v")));
  gst_element_set_locked_state(element, TRUE);
  gst_element_set_state(element, GST_STATE_NULL);
  EXPECT_GT(json::parse(contents(path("r.json")))["frames"].size(), 3u);
  gst_object_unref(element);
}

TEST_F(ResultsFileOfElement, WithoutAnyFrame) {
  Pipeline pipeline(pair_of(0, "results-filename=" + path("r.json")));
  pipeline.run();
  pipeline.stop();
  EXPECT_TRUE(json::parse(contents(path("r.json")))["frames"].empty());
}

TEST_F(ResultsFileOfElement, FormatCanBeChosen) {
  Pipeline csv(pair_of(2, "results-format=csv results-filename=" + path("r.json")));
  ASSERT_EQ(csv.run(), "eos");
  EXPECT_TRUE(contents(path("r.json")).starts_with("Frame,integer_adm2,"));
  Pipeline none(pair_of(2, "results-format=none results-filename=" + path("none.json")));
  ASSERT_EQ(none.run(), "eos");
  EXPECT_FALSE(std::filesystem::exists(path("none.json")));
}

TEST_F(ResultsFileOfElement, FifoThatNobodyReadsHoldsUpNothing) {
  ASSERT_EQ(mkfifo(path("fifo.csv").c_str(), 0600), 0);
  Pipeline pipeline(pair_of(-1, "results-filename=" + path("fifo.csv"), true));
  ASSERT_TRUE(pipeline.play());  // is not held up
  ASSERT_EQ(pipeline.wait_until([&] { return pipeline.frames.size() > 3; }), "done");
  EXPECT_TRUE(pipeline.warnings.empty());  // a reader may come
  pipeline.stop();
}

TEST_F(ResultsFileOfElement, WaitingForAReaderAtTheEndCanBeInterrupted) {
  ASSERT_EQ(mkfifo(path("fifo.csv").c_str(), 0600), 0);
  Pipeline pipeline(pair_of(3, "results-filename=" + path("fifo.csv")));
  ASSERT_TRUE(pipeline.play());
  ASSERT_EQ(pipeline.wait_until([&] { return pipeline.frames.size() == 3; }), "done");
  const gint64 start = g_get_monotonic_time();
  pipeline.stop();
  EXPECT_LT(g_get_monotonic_time() - start, 9 * G_USEC_PER_SEC);  // the end would wait for ten seconds
}

// Heat maps are files beside the result file: a disk that is full is told of once, and the scores come nevertheless.
TEST_F(ResultsFileOfElement, HeatMapsThatCannotBeWrittenAreAWarning) {
  const std::string caps = " ! " + caps_text("I420", 240, 216) + " ! ", maps = path("maps");
  const std::string text = "vmafhip name=v model=\"\" features=cambi=heatmaps_path=" + maps +
                           " ! fakesink name=out videotestsrc num-buffers=4" + caps +
                           "v.ref_sink videotestsrc num-buffers=4" + caps + "v.dist_sink";
  Pipeline good(text);
  ASSERT_EQ(good.run(), "eos");
  EXPECT_TRUE(good.warnings.empty());
  const std::string file = maps + "/cambi_heatmap_scale_0_240x216_16b.gray";
  EXPECT_EQ(std::filesystem::file_size(file), 4u * 2 * 240 * 216);
  Pipeline second(text);
  EXPECT_EQ(second.run(), "error");
  ASSERT_FALSE(second.errors.empty());
  EXPECT_NE(second.errors[0].find("it is being written already"), std::string::npos) << second.errors[0];
  EXPECT_EQ(std::filesystem::file_size(file), 4u * 2 * 240 * 216);
  good.stop();

  std::filesystem::remove(file);
  std::filesystem::create_symlink("/dev/full", file);
  Pipeline full(text);
  ASSERT_EQ(full.run(), "eos");
  EXPECT_EQ(full.frames.size(), 4u);
  ASSERT_EQ(full.warnings.size(), 1u);
  EXPECT_NE(full.warnings[0].find("cannot write heat maps to \"" + file + "\": No space left on device"),
            std::string::npos)
      << full.warnings[0];

  std::filesystem::remove_all(maps);
  std::ofstream(maps) << "not a folder";
  Pipeline refused(text);
  EXPECT_EQ(refused.run(), "error");
  ASSERT_FALSE(refused.errors.empty());
  EXPECT_NE(refused.errors[0].find("cannot write heat maps"), std::string::npos) << refused.errors[0];
}

}  // namespace
}  // namespace vmafhip::test
