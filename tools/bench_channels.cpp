#include "tools/bench_channels.h"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tools/bench_checksum.h"

namespace vmafhip::bench {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

class Channel {
 public:
  Channel(const Arguments &arguments, const Pictures &pictures) : arguments_(arguments), pictures_(pictures) {
    auto session = Session::create(arguments.session);
    if (!session.ok()) throw std::runtime_error(session.status().message());
    session_ = std::move(*session);
    PictureFormat ref = arguments.format, dist = arguments.dist_format();
    ref.memory = dist.memory = arguments.memory;
    const Status status = session_->configure(ref, std::vector(size_t(arguments.session.distorted), dist));
    if (!status.ok()) throw std::runtime_error(status.message());
  }

  // Frames up to `end`. With a rate each is submitted when its time has come, counted from `start`.
  void run(int end, Clock::time_point start) {
    const int first = next_;
    for (; next_ < end; ++next_) {
      if (arguments_.rate > 0)
        std::this_thread::sleep_until(
            start + std::chrono::duration_cast<Clock::duration>(Seconds((next_ - first) / arguments_.rate)));
      const auto submitted = Clock::now();
      submit();
      if (arguments_.rate == 0) continue;
      take_all();
      latencies_.push_back(Seconds(Clock::now() - submitted).count() * 1000);
    }
    take_all();
    seconds_ = Seconds(Clock::now() - start).count();
  }
  // The last scores.
  void finish() {
    session_->finish();
    take_all();
  }
  void forget_latencies() { latencies_.clear(); }

  const std::vector<double> &latencies() const { return latencies_; }  // ms
  double seconds() const { return seconds_; }
  const Session &session() const { return *session_; }
  uint64_t checksum() const { return sum_.value(); }
  const std::string &failure() const { return failure_; }
  void fail(const std::string &why) { failure_ = why; }

 private:
  Session::Next take() {
    const Session::Next next = session_->wait(scores_);
    if (next == Session::Next::failed) throw std::runtime_error(session_->status().message());
    if (next == Session::Next::ready) sum_.add(scores_);
    return next;
  }
  void take_all() {
    while (take() == Session::Next::ready) {
    }
  }
  void submit() {
    const Frame &frame = pictures_.at(uint64_t(next_));
    dist_ = frame.dist;
    while (!session_->submit(frame.ref, dist_))
      if (take() != Session::Next::ready) throw std::runtime_error("the session is stuck");
  }

  const Arguments &arguments_;
  const Pictures &pictures_;
  std::unique_ptr<Session> session_;
  std::vector<Picture> dist_;
  FrameScores scores_;
  Checksum sum_;
  int next_ = 0;
  std::vector<double> latencies_;
  double seconds_ = 0;
  std::string failure_;
};

double percentile(const std::vector<double> &sorted, size_t p) {
  return sorted[(sorted.size() * p + 99) / 100 - 1];
}

}  // namespace

void measure_channels(const Arguments &arguments, const Pictures &pictures, nlohmann::ordered_json &out) {
  std::vector<std::unique_ptr<Channel>> channels;
  for (int i = 0; i < arguments.sessions; ++i)
    channels.push_back(std::make_unique<Channel>(arguments, pictures));
  Clock::time_point start;
  std::barrier together(arguments.sessions, [&]() noexcept { start = Clock::now(); });
  std::vector<std::thread> threads;
  for (const auto &channel : channels)
    threads.emplace_back([&arguments, &together, &start, &c = *channel] {
      // The others go on without the one that fails.
      const auto step = [&](int end) {
        together.arrive_and_wait();
        try {
          if (c.failure().empty()) c.run(end, start);
        } catch (const std::exception &error) {
          c.fail(error.what());
        }
      };
      step(arguments.warmup);
      c.forget_latencies();
      step(arguments.warmup + arguments.frames);
      if (c.failure().empty()) c.finish();
    });
  for (std::thread &thread : threads) thread.join();

  double longest = 0, shortest = 1e30;
  uint64_t device = 0, pinned = 0, all_device = 0, all_pinned = 0;
  std::vector<double> latencies;
  bool equal = true;
  for (const auto &channel : channels) {
    if (!channel->failure().empty()) throw std::runtime_error(channel->failure());
    longest = std::max(longest, channel->seconds());
    shortest = std::min(shortest, channel->seconds());
    device = std::max(device, channel->session().device_bytes());
    pinned = std::max(pinned, channel->session().pinned_bytes());
    all_device += channel->session().device_bytes();
    all_pinned += channel->session().pinned_bytes();
    latencies.insert(latencies.end(), channel->latencies().begin(), channel->latencies().end());
    equal = equal && channel->checksum() == channels[0]->checksum();
  }
  out["sessions"] = arguments.sessions;
  out["frames"] = arguments.frames;
  out["fps"] = arguments.frames * arguments.sessions / longest;
  out["session_fps"] = {{"least", arguments.frames / longest}, {"most", arguments.frames / shortest}};
  if (!latencies.empty()) {
    std::sort(latencies.begin(), latencies.end());
    out["latency_ms"] = {{"p50", percentile(latencies, 50)}, {"p99", percentile(latencies, 99)}};
  }
  out["session_device_kib"] = device / 1024;
  out["session_pinned_kib"] = pinned / 1024;
  out["device_kib"] = all_device / 1024;
  out["pinned_kib"] = all_pinned / 1024;
  out["equal_scores"] = equal;
}

}  // namespace vmafhip::bench
