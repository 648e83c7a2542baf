// The pipeline of one rendition, from its sources to the element; one run of it, built anew for each attempt.
//
//   two streams         uridecodebin ! videoconvert ! ref_sink     uridecodebin ! videoconvert ! dist_sink
//   encoder in place    uridecodebin ! videoconvert ! tee, and of it
//                       queue ! ref_sink      queue ! ENCODER ! decodebin ! videoconvert ! dist_sink
//
// (videoconvert hands on what the element takes as it is.) Probes on the element's sink pads count what comes, keep
// thumbnails and take out jumps of time stamps. They tell by application messages of the element: `end`; `jump` (side,
// seconds); `change` (property, value), of an encoder's.
#pragma once
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "examples/monitor/changes.h"
#include "examples/monitor/continuity.h"
#include "examples/monitor/settings.h"
#include "examples/monitor/taking.h"
#include "examples/monitor/thumbnails.h"

namespace monitor {

class Pipeline {
 public:
  enum Side : size_t { reference, distorted };

  // What has come to one pad.
  struct Flow {
    // Since the last frame was due (one that the encoder took counts, too), or since the start.
    int64_t silent_us;
    bool ended;  // end of stream
  };

  // Null, and one line in `error`, if something in the settings cannot be: a model, an encoder, a property.
  static std::shared_ptr<Pipeline> create(const ChannelSettings &channel, const RenditionSettings &rendition,
                                          const std::string &results, std::string &error);
  ~Pipeline();

  // Tries what the element does before a stream begins: models, features, GPU. The text of the error or nothing.
  std::string try_element();

  // These may block, on the network for instance: not for the main loop's thread.
  bool play();  // whether it could be tried; errors come as messages
  void end();   // sends the end of the streams; the application message `end` follows, as at any end
  void stop();  // scores what is on its way. Messages wait on the bus until it is destroyed

  GstElement *element() const { return element_; }  // vmafhip
  GstBus *bus() const { return bus_.get(); }
  bool live() const { return live_; }
  Flow flow(Side side) const;
  const Thumbnails &thumbnails(Side side) const { return sides_[side].thumbnails; }
  std::string text_of(GstMessage *message) const;  // of an error or a warning, in one line, without passwords
  std::string caps() const;                        // "1920x1080 I420 25/1", of the reference
  // Frames that come to be scored each second where a clock sets the pace; 0: as fast as it goes, or unknown.
  double fps() const;
  int64_t duration() const;  // ns, -1 if unknown
  bool encoder_in_place() const { return encoder_ != nullptr; }

 private:
  struct Probed {
    Pipeline *pipeline;
    Side side;
    GstElement *source = nullptr;  // uridecodebin, if the stream has one of its own
    std::string uri;               // that it plays
    Thumbnails thumbnails;
    GstVideoInfo info;
    bool readable = false;  // by the processor
    std::atomic<uint64_t> frames{0};
    std::atomic<int64_t> last{0};
    std::atomic<bool> ended{false};
  };

  Pipeline() = default;
  std::string build(const ChannelSettings &channel, const RenditionSettings &rendition,
                    const std::string &results);
  std::string configure(const ChannelSettings &channel, const std::string &results);
  std::string add_encoder(const RenditionSettings &rendition, GstElement *from);
  GstElement *add(const char *factory);
  GstElement *add_source(Side side, const std::string &uri);
  bool read_caps(const char *pad, GstVideoInfo &info) const;
  static std::string why_no_video(const Probed &side);
  GstStateChangeReturn bring_up(GstState state);
  void changed_to(GstCaps *caps, Probed &side);
  void came(GstBuffer *buffer, GstPad *pad, Probed &side);
  static GstPadProbeReturn on_data(GstPad *pad, GstPadProbeInfo *info, gpointer side);
  static GstPadProbeReturn on_output(GstPad *pad, GstPadProbeInfo *info, gpointer self);
  static GstPadProbeReturn on_encoder_input(GstPad *pad, GstPadProbeInfo *info, gpointer self);

  ElementPtr pipeline_;
  std::unique_ptr<GstBus, Free<gst_object_unref>> bus_;
  GstElement *element_ = nullptr, *sink_ = nullptr, *encoder_ = nullptr;
  std::array<Probed, 2> sides_{};
  Continuity incoming_, outgoing_;
  Changes changes_;
  bool paced_ = false;  // by the clock, where sources are not live
  std::atomic<bool> live_{false};
  std::atomic<int64_t> encoder_moved_{0};  // when it took its last frame
  std::atomic<int64_t> waits_until_{0};    // the sink, with a frame that comes after a gap
  int64_t sink_offset_ = 0;                // ns, the sink's ts-offset
  int64_t started_ = 0;
  std::mutex state_mutex_;
  bool stopped_ = false;
};

}  // namespace monitor
