// A stand-in for gst-plugins-bad's `vmaf`: pipelines and applications written for that element.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "gst/vmafhip/dropin.h"
#include "tests/pipeline.h"
#include "tests/scratch_folder.h"

GST_DEBUG_CATEGORY(vmafhip_debug);
GST_DEBUG_CATEGORY(vmafhip_pairing_debug);
GST_DEBUG_CATEGORY(vmafhip_score_debug);

namespace vmafhip::test {
namespace {

std::string sources(int frames) {
  const std::string caps = caps_text("I420", 64, 64), n = std::to_string(frames);
  return "videotestsrc pattern=ball num-buffers=" + n + " ! " + caps +
         " ! v.ref_sink videotestsrc pattern=ball background-color=0xff202020 num-buffers=" + n + " ! " +
         caps + " ! v.dist_sink ";
}

// What an application for `vmaf` reads: messages of that name, and nothing else.
struct VmafMessages {
  std::vector<StructurePtr> frames, pooled;
  int others = 0;
};
VmafMessages run_vmaf(const std::string &description) {
  VmafMessages read;
  GError *error = nullptr;
  GstElement *pipeline = gst_parse_launch(description.c_str(), &error);
  EXPECT_EQ(error, nullptr) << error->message;
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  GstBus *bus = gst_element_get_bus(pipeline);
  const auto wanted = GstMessageType(GST_MESSAGE_ELEMENT | GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  for (;;) {
    GstMessage *message = gst_bus_timed_pop_filtered(bus, 60 * GST_SECOND, wanted);
    const bool element = message && GST_MESSAGE_TYPE(message) == GST_MESSAGE_ELEMENT;
    if (element) {
      const GstStructure *s = gst_message_get_structure(message);
      if (!gst_structure_has_name(s, "VMAF")) {
        ++read.others;
      } else {
        const bool frame = !g_strcmp0(gst_structure_get_string(s, "type"), "frame");
        EXPECT_STREQ(gst_structure_get_string(s, "type"), frame ? "frame" : "pooled");
        (frame ? read.frames : read.pooled).emplace_back(gst_structure_copy(s));
      }
    } else {
      EXPECT_TRUE(message && GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS);
    }
    if (message) gst_message_unref(message);
    if (!element) break;
  }
  gst_object_unref(bus);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
  return read;
}

// The pipeline is one for `vmaf`, except for the factory's name and the message's.
TEST(DropIn, PipelineAndMessages) {
  const VmafMessages vmaf = run_vmaf(
      sources(9) +
      "vmafhip message-name=VMAF name=v frame-message=true model-filename=vmaf_v0.6.1 "
      "pool-method=harmonic_mean "
      "threads=2 subsample=1 log-level=warning disable-clip=false enable-transform=false phone-model=false "
      "conf-interval=false psnr=false ssim=false ms-ssim=false ! fakesink");
  ASSERT_EQ(vmaf.frames.size(), 9u);
  double reciprocals = 0;
  for (size_t i = 0; i < 9; ++i) {
    const GstStructure *s = vmaf.frames[i].get();
    gint index = -1;
    EXPECT_TRUE(gst_structure_get_int(s, "index", &index));
    EXPECT_EQ(index, gint(i));
    for (const char *time : {"timestamp", "stream-time", "running-time"})
      EXPECT_EQ(number(s, time), i * 40 * GST_MSECOND) << time;
    EXPECT_EQ(number(s, "duration"), 40 * GST_MSECOND);
    reciprocals += 1 / (real(s, "score") + 1);
    EXPECT_EQ(gst_structure_n_fields(s), 7);
  }
  ASSERT_EQ(vmaf.pooled.size(), 1u);
  EXPECT_NEAR(real(vmaf.pooled[0].get(), "score"), 9 / reciprocals - 1, 1e-9);
  EXPECT_FALSE(gst_structure_has_field(vmaf.pooled[0].get(), "index"));
  EXPECT_EQ(number(vmaf.pooled[0].get(), "timestamp"), 8 * 40 * GST_MSECOND);
  EXPECT_EQ(vmaf.others, 0);
}

TEST(DropIn, ResultFile) {
  const ScratchFolder folder;
  const std::string file = folder.path("scores.json");
  for (const char *format : {"none", "json"}) {
    const VmafMessages vmaf =
        run_vmaf(sources(4) + "vmafhip message-name=VMAF name=v results-filename=" + file +
                 " results-format=" + format + " ! fakesink");
    EXPECT_EQ(bool(g_file_test(file.c_str(), G_FILE_TEST_EXISTS)), !std::strcmp(format, "json"));
  }
  gchar *text = nullptr;
  ASSERT_TRUE(g_file_get_contents(file.c_str(), &text, nullptr, nullptr));
  EXPECT_EQ(text[0], '{');
  EXPECT_NE(std::strstr(text, "\"frameNum\": 3"), nullptr) << text;
  g_free(text);
}

// What that element does not know must not look like its messages.
TEST(DropIn, FurtherMessagesKeepTheirName) {
  const VmafMessages vmaf = run_vmaf(
      sources(9) +
      "vmafhip message-name=VMAF window=120000000 alert-threshold=99 name=v frame-message=false ! fakesink");
  EXPECT_TRUE(vmaf.frames.empty());
  EXPECT_EQ(vmaf.pooled.size(), 1u);
  EXPECT_EQ(vmaf.others, 3 + 2);
}

TEST(DropIn, PropertiesMeanTheSame) {
  const std::pair<const char *, const char *> same[] = {
      {"model-filename=vmaf_v0.6.1neg", "model=vmaf_v0.6.1neg"},
      {"disable-clip=true", "model=vmaf_v0.6.1:disable_clip=true"},
      {"enable-transform=true", "model=vmaf_v0.6.1:enable_transform=true"},
      {"phone-model=true", "model=vmaf_v0.6.1:enable_transform=true"},
      {"model=vmaf_v0.6.1|vmaf_4k_v0.6.1:enable_transform=true phone-model=true",
       "model=vmaf_v0.6.1:enable_transform=true|vmaf_4k_v0.6.1:enable_transform=true"}};
  auto run = [](const std::string &settings) {
    auto pipeline =
        std::make_unique<Pipeline>(sources(5) + "vmafhip name=v " + settings + " ! fakesink name=out");
    EXPECT_EQ(pipeline->run(), "eos") << settings;
    EXPECT_EQ(pipeline->frames.size(), 5u);
    return pipeline;
  };
  const auto plain = run("");
  for (const auto &[theirs, ours] : same) {
    const auto a = run(theirs), b = run(ours);
    bool changes = false;
    for (size_t i = 0; i < 5; ++i) {
      EXPECT_EQ(real(a->frames[i].get(), "score"), real(b->frames[i].get(), "score")) << theirs;
      changes = changes || real(a->frames[i].get(), "score") != real(plain->frames[i].get(), "score");
    }
    EXPECT_TRUE(changes || std::string(theirs).find("clip") != std::string::npos) << theirs;
  }
}

TEST(DropIn, ModelsOf) {
  auto with = [](auto &&change) {
    Settings s;
    change(s);
    return models_of(s);
  };
  EXPECT_EQ(with([](Settings &) {}), "vmaf_v0.6.1");
  EXPECT_EQ(with([](Settings &s) { s.model_filename = "vmaf_4k_v0.6.1"; }), "version=vmaf_4k_v0.6.1");
  EXPECT_EQ(with([](Settings &s) { s.model_filename = "a:b|c/m.json"; }), "path=a\\:b\\|c/m.json");
  EXPECT_EQ(with([](Settings &s) { s.model_filename = "m.pkl"; }), "path=m.pkl");
  EXPECT_EQ(with([](Settings &s) {
              s.model = "a|path=x\\|y:disable_clip=false|c";
              s.disable_clip = s.phone_model = true;
            }),
            "a:disable_clip=true:enable_transform=true|path=x\\|y:disable_clip=false:enable_transform=true|c:"
            "disable_"
            "clip=true:enable_transform=true");
  EXPECT_EQ(with([](Settings &s) {
              s.model = "";
              s.disable_clip = true;
            }),
            "");
}

// The metrics are extractors, by libvmaf's names, and their scores fields of the messages.
TEST(DropIn, Metrics) {
  Settings settings;
  settings.features = "vif";
  settings.psnr = settings.ms_ssim = true;
  EXPECT_EQ(features_of(settings), "vif|float_psnr|float_ms_ssim");

  PairInfo last;
  last.index = 3;
  StructurePtr frame(
      gst_structure_new("vmafhip", "type", G_TYPE_STRING, "frame", "score", G_TYPE_DOUBLE, 90., nullptr));
  GstStructure *features = gst_structure_new("features", "float_psnr", G_TYPE_DOUBLE, 41.5, "float_ms_ssim",
                                             G_TYPE_DOUBLE, 0.99, nullptr);
  gst_structure_set(frame.get(), "features", GST_TYPE_STRUCTURE, features, nullptr);
  gst_structure_free(features);
  frame = named_message(std::move(frame), "VMAF", last);
  EXPECT_EQ(real(frame.get(), "psnr-y"), 41.5);
  EXPECT_EQ(real(frame.get(), "ms-ssim"), 0.99);
  EXPECT_FALSE(gst_structure_has_field(frame.get(), "ssim"));

  StructurePtr pooled(gst_structure_new("vmafhip", "type", G_TYPE_STRING, "pooled", "pool-method",
                                        G_TYPE_STRING, "min", nullptr));
  GstStructure *pool =
      gst_structure_new("pool", "mean", G_TYPE_DOUBLE, 0.9, "min", G_TYPE_DOUBLE, 0.8, nullptr);
  features = gst_structure_new("features", "float_ssim", GST_TYPE_STRUCTURE, pool, nullptr);
  gst_structure_set(pooled.get(), "features", GST_TYPE_STRUCTURE, features, nullptr);
  gst_structure_free(features);
  gst_structure_free(pool);
  pooled = named_message(std::move(pooled), "VMAF", last);
  EXPECT_EQ(real(pooled.get(), "ssim"), 0.8);
  EXPECT_FALSE(gst_structure_has_field(pooled.get(), "score"));
}

TEST(DropIn, MetricsAreMeasured) {
  const std::string caps = caps_text("I420", 256, 192);
  const std::string description =
      "videotestsrc pattern=ball num-buffers=3 ! " + caps +
      " ! v.ref_sink videotestsrc pattern=ball background-color=0xff202020 num-buffers=3 ! " + caps +
      " ! v.dist_sink vmafhip name=v psnr=true ssim=true ms-ssim=true ";
  Pipeline ours(description + "! fakesink");
  ASSERT_EQ(ours.run(), "eos") << (ours.errors.empty() ? "" : ours.errors[0]);
  const VmafMessages theirs = run_vmaf(description + "message-name=VMAF ! fakesink");
  ASSERT_EQ(theirs.frames.size(), 3u);
  ASSERT_EQ(ours.frames.size(), 3u);
  const std::pair<const char *, const char *> fields[] = {
      {"psnr-y", "float_psnr"}, {"ssim", "float_ssim"}, {"ms-ssim", "float_ms_ssim"}};
  for (const auto &[field, feature] : fields) {
    for (size_t i = 0; i < 3; ++i)
      EXPECT_EQ(real(theirs.frames[i].get(), field), real_in(ours.frames[i].get(), "features", feature));
    EXPECT_LT(real(theirs.frames[0].get(), field), field[0] == 'p' ? 50 : 1);
    EXPECT_EQ(real(theirs.pooled.at(0).get(), field),
              pooled_in(ours.pooled.at(0).get(), "features", feature, "mean"));
  }
}

TEST(DropIn, ConfidenceIntervalsNeedABootstrapModel) {
  Pipeline pipeline(sources(5) + "vmafhip name=v conf-interval=true ! fakesink");
  EXPECT_EQ(pipeline.run(), "eos");
  ASSERT_EQ(pipeline.warnings.size(), 1u);
  EXPECT_NE(pipeline.warnings[0].find("conf-interval"), std::string::npos) << pipeline.warnings[0];
  Settings settings;
  settings.conf_interval = true;
  const ModelInfo plain{"m", ModelSource::file, ""}, low{"m_ci_p95_lo", ModelSource::file, ""};
  EXPECT_TRUE(lacks_interval(settings, {}));
  EXPECT_TRUE(lacks_interval(settings, {plain}));
  EXPECT_FALSE(lacks_interval(settings, {plain, low}));
  settings.conf_interval = false;
  EXPECT_FALSE(lacks_interval(settings, {plain}));
}

TEST(DropIn, NumbersOfEnumerationsAreTheirs) {
  GstElement *v = gst_element_factory_make("vmafhip", nullptr);
  const std::pair<const char *, std::vector<const char *>> enums[] = {
      {"pool-method", {"", "min", "max", "mean", "harmonic_mean"}},
      {"results-format", {"none", "xml", "json", "csv"}},
      {"log-level", {"none", "error", "warning", "info", "debug"}}};
  for (const auto &[property, nicks] : enums) {
    GParamSpec *spec = g_object_class_find_property(G_OBJECT_GET_CLASS(v), property);
    for (size_t i = 0; i < nicks.size(); ++i) {
      if (!*nicks[i]) continue;
      const GEnumValue *value = g_enum_get_value_by_nick(G_PARAM_SPEC_ENUM(spec)->enum_class, nicks[i]);
      ASSERT_NE(value, nullptr) << nicks[i];
      EXPECT_EQ(value->value, int(i)) << nicks[i];
    }
  }
  gst_object_unref(v);
}

TEST(DropIn, LogLevelRaisesAndNeverLowers) {
  GST_DEBUG_CATEGORY_INIT(vmafhip_debug, "dropin-test", 0, "");
  GST_DEBUG_CATEGORY_INIT(vmafhip_pairing_debug, "dropin-test-2", 0, "");
  GST_DEBUG_CATEGORY_INIT(vmafhip_score_debug, "dropin-test-3", 0, "");
  gst_debug_category_set_threshold(vmafhip_debug, GST_LEVEL_INFO);
  gst_debug_category_set_threshold(vmafhip_score_debug, GST_LEVEL_NONE);
  apply_log_level(LogLevel::warning);
  EXPECT_EQ(gst_debug_category_get_threshold(vmafhip_debug), GST_LEVEL_INFO);
  EXPECT_EQ(gst_debug_category_get_threshold(vmafhip_score_debug), GST_LEVEL_WARNING);
  apply_log_level(LogLevel::none);
  EXPECT_EQ(gst_debug_category_get_threshold(vmafhip_score_debug), GST_LEVEL_WARNING);
}

TEST(MessageName, OfAllMessages) {
  Pipeline pipeline(sources(5) + "vmafhip name=v message-name=quality window=80000000 ! fakesink");
  std::map<std::string, int> names;
  GstBus *bus = gst_element_get_bus(pipeline.element());
  gst_bus_set_sync_handler(
      bus,
      [](GstBus *, GstMessage *message, gpointer names) {
        if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ELEMENT)
          ++(*static_cast<std::map<std::string, int> *>(
              names))[gst_structure_get_name(gst_message_get_structure(message))];
        return GST_BUS_PASS;
      },
      &names, nullptr);
  gst_object_unref(bus);
  ASSERT_EQ(pipeline.run(), "eos");
  EXPECT_EQ(names, (std::map<std::string, int>{{"quality", 5 + 3 + 1}}));
}

TEST(MessageName, MustBeOne) {
  for (const char *name : {"", "9lives", "two words", "a,b"}) {
    EXPECT_FALSE(check_message_name(name).ok()) << name;
    Pipeline pipeline(sources(5) + "vmafhip name=v message-name=\"" + name + "\" ! fakesink");
    EXPECT_EQ(pipeline.run(), "error") << name;
    ASSERT_EQ(pipeline.errors.size(), 1u);
    EXPECT_NE(pipeline.errors[0].find("message-name"), std::string::npos) << pipeline.errors[0];
  }
  EXPECT_TRUE(check_message_name("a/b-c_d.e:f+9").ok());
}

}  // namespace
}  // namespace vmafhip::test
