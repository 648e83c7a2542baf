// One rendition under supervision: starts its pipeline, sees it fail, and builds it anew after a pause that grows from
// `retry` to 60 s. All on the main loop's thread; what may block is done by threads of their own, and a pipeline that does
// not come down in time is left to its thread.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "examples/monitor/main_loop.h"
#include "examples/monitor/messages.h"
#include "examples/monitor/pipeline.h"
#include "examples/monitor/record.h"
#include "examples/monitor/result_files.h"
#include "examples/monitor/settings.h"

namespace monitor {

class Rendition {
 public:
  // All must outlive it. `on_end`: it will not start again.
  Rendition(const ChannelSettings &channel, const RenditionSettings &rendition, bool once, Record &record,
            std::function<void()> on_end);
  ~Rendition();

  // Whether the settings can be carried out here; the text of the error or nothing. May block for a moment.
  std::string check() const;

  void start();
  void tick();  // once a second
  void stop();  // what is on its way is scored; on_end() within some 15 s
  bool ended() const { return state_ == State::ended || state_ == State::failed; }
  bool failed() const { return state_ == State::failed; }

  // Whether it ends with its streams; otherwise they are started again.
  bool ends() const { return once_ || finite_; }
  // How much of the reference has been scored, 0 to 1; negative where its length is not known.
  double progress() const;

 private:
  enum class End { streams, lost, no_file, stopped };  // why a run is over
  struct Run;

  void begin_again();
  void bring_down(End end);
  void is_down(bool abandoned);
  void go_on(End end, bool scored);
  void lost(const std::string &why);
  void set_state(State state);
  void read_bus();
  void read(GstMessage *message);
  void read_own(const GstStructure *message);
  void look_for_stall();

  const ChannelSettings &channel_;
  const RenditionSettings &rendition_;
  const bool once_, finite_;
  Record &record_;
  const std::function<void()> on_end_;
  Messages messages_;
  ResultFiles results_;
  State state_ = State::connecting;
  std::shared_ptr<Run> run_;
  Timer timer_;       // until the next run begins, or for patience with one that ends
  double pause_ = 0;  // s, the last one
  int64_t scoring_since_ = 0, duration_ = -1;
  int64_t ticked_ = 0, awake_since_ = 0;  // g_get_monotonic_time()
  bool stopping_ = false;
  bool without_file_ = false;  // the next run: the result file could not be opened
};

}  // namespace monitor
