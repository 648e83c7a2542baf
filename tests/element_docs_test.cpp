// README.md against the element: every property, enumeration value, signal and message field is in its tables, every
// property in the tables is there, and gst-inspect has a sentence for each.
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "tests/pipeline.h"

namespace vmafhip::test {
namespace {

const std::string &readme() {
  static const std::string text = [] {
    std::ifstream file(VMAFHIP_SOURCE_ROOT "/README.md");
    std::stringstream all;
    all << file.rdbuf();
    return all.str();
  }();
  return text;
}

bool documented(const std::string &name) { return readme().find("`" + name + "`") != std::string::npos; }

// The part of README.md under a heading, up to the next one of that level.
std::string section(const std::string &heading) {
  const size_t begin = readme().find("\n## " + heading + "\n");
  EXPECT_NE(begin, std::string::npos) << heading;
  return readme().substr(begin + 1, readme().find("\n## ", begin + 1) - begin);
}

// Names in the first cells of its tables.
std::set<std::string> first_cells(const std::string &text) {
  std::set<std::string> names;
  const std::regex name("`([a-z0-9-]+)`");
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| `")) continue;
    const std::string cell = line.substr(0, line.find(" | ", 2));
    for (auto match = std::sregex_iterator(cell.begin(), cell.end(), name); match != std::sregex_iterator();
         ++match)
      names.insert((*match)[1]);
  }
  return names;
}

class Documentation : public ::testing::Test {
 protected:
  Documentation() {
    element = gst_element_factory_make("vmafhip", nullptr);
    gst_object_ref_sink(element);
    pad = gst_element_get_static_pad(element, "ref_sink");
  }
  ~Documentation() override {
    gst_object_unref(pad);
    gst_object_unref(element);
  }

  // The properties that the object's own class defines.
  static std::vector<GParamSpec *> own_properties(gpointer object) {
    guint count;
    GParamSpec **specs = g_object_class_list_properties(G_OBJECT_GET_CLASS(object), &count);
    std::vector<GParamSpec *> own;
    for (guint i = 0; i < count; ++i)
      if (specs[i]->owner_type == G_OBJECT_TYPE(object)) own.push_back(specs[i]);
    g_free(specs);
    return own;
  }

  GstElement *element;
  GstPad *pad;
};

TEST_F(Documentation, PropertiesAndTheirValues) {
  for (gpointer object : {gpointer(element), gpointer(pad)}) {
    const auto own = own_properties(object);
    EXPECT_GE(own.size(), 5u);
    for (GParamSpec *spec : own) {
      EXPECT_TRUE(documented(spec->name)) << spec->name;
      const std::string blurb = g_param_spec_get_blurb(spec) ? g_param_spec_get_blurb(spec) : "";
      EXPECT_GE(blurb.size(), 15u) << spec->name;
      EXPECT_FALSE(blurb.ends_with(".")) << spec->name << ": " << blurb;
      EXPECT_TRUE(g_ascii_isupper(blurb[0])) << spec->name << ": " << blurb;
      if (!G_IS_PARAM_SPEC_ENUM(spec)) continue;
      const GEnumClass *values = G_PARAM_SPEC_ENUM(spec)->enum_class;
      for (guint i = 0; i < values->n_values; ++i) {
        EXPECT_TRUE(documented(values->values[i].value_nick))
            << spec->name << "=" << values->values[i].value_nick;
        EXPECT_STRNE(values->values[i].value_name, values->values[i].value_nick)
            << "what gst-inspect says of it";
      }
    }
  }
}

TEST_F(Documentation, NothingThatIsNotThere) {
  for (const auto &[heading, object] :
       {std::pair("Properties", gpointer(element)), std::pair("Pads", gpointer(pad))})
    for (const std::string &name : first_cells(section(heading)))
      EXPECT_TRUE(g_object_class_find_property(G_OBJECT_GET_CLASS(object), name.c_str()) ||
                  gst_element_get_pad_template(element, name.c_str()) ||
                  g_signal_lookup(name.c_str(), G_OBJECT_TYPE(object)))
          << name;
}

TEST_F(Documentation, Signals) {
  guint count;
  guint *ids = g_signal_list_ids(G_OBJECT_TYPE(element), &count);
  for (guint i = 0; i < count; ++i) EXPECT_TRUE(documented(g_signal_name(ids[i]))) << g_signal_name(ids[i]);
  g_free(ids);
}

void expect_fields(const GstStructure *s, const std::string &text) {
  for (gint i = 0; i < gst_structure_n_fields(s); ++i) {
    const std::string field = gst_structure_nth_field_name(s, guint(i));
    EXPECT_NE(text.find("`" + field + "`"), std::string::npos) << field;
  }
}

TEST_F(Documentation, MessageFields) {
  Pipeline pipeline(
      "vmafhip name=v window=40000000 alert-threshold=101 ! fakesink videotestsrc num-buffers=3 ! "
      "video/x-raw,width=64,height=64 ! tee name=t "
      "t. ! queue ! v.ref_sink t. ! queue ! v.dist_sink");
  ASSERT_EQ(pipeline.run(), "eos");
  ASSERT_EQ(pipeline.frames.size(), 3u);
  ASSERT_EQ(pipeline.pooled.size(), 1u);
  std::set<std::string> types;
  const std::string messages = section("Messages");
  for (const auto *kept : {&pipeline.frames, &pipeline.pooled, &pipeline.others})
    for (const StructurePtr &message : *kept) {
      types.insert(gst_structure_get_string(message.get(), "type"));
      expect_fields(message.get(), messages);
    }
  EXPECT_EQ(types, (std::set<std::string>{"frame", "pooled", "window", "alert"}));
  GstStructure *stats = nullptr;
  g_object_get(pipeline.get("v"), "stats", &stats, nullptr);
  expect_fields(stats, readme());
  gst_structure_free(stats);
}

TEST_F(Documentation, OfTheElement) {
  for (const char *key : {GST_ELEMENT_METADATA_LONGNAME, GST_ELEMENT_METADATA_KLASS,
                          GST_ELEMENT_METADATA_DESCRIPTION, GST_ELEMENT_METADATA_AUTHOR}) {
    const char *text = gst_element_class_get_metadata(GST_ELEMENT_GET_CLASS(element), key);
    ASSERT_NE(text, nullptr) << key;
    EXPECT_STRNE(text, "") << key;
  }
}

}  // namespace
}  // namespace vmafhip::test
