// main() of the element's tests: GStreamer must be initialised before GoogleTest runs anything, and is left in order
// afterwards, so that tools can tell what was left behind.
#include <gst/gst.h>
#include <gtest/gtest.h>

int main(int argc, char **argv) {
  gst_init(&argc, &argv);
  ::testing::InitGoogleTest(&argc, argv);
  const int result = RUN_ALL_TESTS();
  gst_deinit();
  return result;
}
