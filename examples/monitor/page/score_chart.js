// The score of a rendition over time: mean as a line, the band to each moment's worst frame, the alert's red zone,
// and marks with text where something happened. Chart.js draws line, band and axes; zone and marks are a plugin here.
import {kindOf} from './html.js';

const MARK_ROW = 13;  // pixels of a row of marks' texts; there are two
const BUCKETS = 480;  // points drawn at most; more would lie closer than pixels

// Joins points ({x, mean, worst, step}, ordered) of a stretch of time to at most BUCKETS, with a hole where scores are
// missing for longer than points lie apart. above: higher is worse.
export function bucketed(points, from, to, above) {
  const step = Math.max(1000, Math.ceil((to - from) / BUCKETS / 1000) * 1000);
  const result = [];
  let open = null, lastEnd = null;
  for (const point of points) {
    if (point.x < from - step || point.x > to) continue;
    const bucket = Math.floor(point.x / step) * step;
    if (open && open.x === bucket) {
      open.sum += point.mean;
      open.n += 1;
      open.worst = above ? Math.max(open.worst, point.worst) : Math.min(open.worst, point.worst);
    } else {
      if (lastEnd !== null && point.x > lastEnd + 2 * Math.max(step, point.step)) result.push(null);
      open = {x: bucket, sum: point.mean, n: 1, worst: point.worst};
      result.push(open);
    }
    lastEnd = point.x;
  }
  return result.map((one, n) =>
    one ? {x: one.x, mean: one.sum / one.n, worst: one.worst} : {x: result[n - 1].x + step, mean: NaN, worst: NaN});
}

// The lowest and highest value of the axis. It ends where a measure is best: at 100, or at 1 for what lies between 0 and 1;
// errors (above) begin at 0.
function axis(points, threshold, above, decimals) {
  const unit = decimals > 2 ? 0.1 : 10;
  const values = points.flatMap((point) => [point.mean, point.worst]).filter(Number.isFinite);
  if (threshold !== null && (above || values.length > 0)) values.push(threshold);
  if (values.length === 0) return [0, 10 * unit];
  const low = Math.min(...values);
  const bottom = Math.floor(low / unit - 0.5), top = Math.ceil(Math.max(...values) / unit);
  return [unit * (low < 0 ? bottom : above ? 0 : Math.max(bottom, 0)), unit * Math.max(top, above ? 1 : 10)];
}

const TICKS = [5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200].map((seconds) => seconds * 1000);

export function canDraw() {
  return typeof window.Chart === 'function';
}

export class ScoreChart {
  constructor(canvas) {
    this.colours = {};
    this.shown = {threshold: null, clear: null, events: [], above: false, decimals: 2, from: 0, to: 1};
    const line = {parsing: false, pointRadius: 0, pointHitRadius: 8, tension: 0};
    this.chart = new window.Chart(canvas, {
      type: 'line',
      data: {datasets: [
        {...line, label: 'Worst frame', data: [], borderWidth: 1},
        {...line, label: 'Mean', data: [], borderWidth: 2, fill: '-1'},
      ]},
      options: {
        animation: false,
        maintainAspectRatio: false,
        interaction: {mode: 'index', intersect: false},
        layout: {padding: {top: 2 * MARK_ROW + 2}},
        scales: {
          x: {type: 'linear', grid: {drawOnChartArea: false}, ticks: {maxRotation: 0, callback: (value) => this.tickText(value)},
            afterBuildTicks: (scale) => this.buildTicks(scale)},
          y: {ticks: {maxTicksLimit: 6}},
        },
        plugins: {
          legend: {display: false},
          tooltip: {callbacks: {
            title: (items) => new Date(items[0].parsed.x).toLocaleTimeString('en-GB'),
            label: (item) => `${item.dataset.label} ${item.parsed.y.toFixed(this.shown.decimals - 1)}`,
            afterBody: (items) => this.eventsNear(items[0].parsed.x),
          }},
        },
      },
      plugins: [{id: 'zone', beforeDatasetsDraw: () => this.drawZone(), afterDatasetsDraw: () => this.drawMarks()}],
    });
    this.readColours();
  }

  destroy() {
    this.chart.destroy();
  }

  readColours() {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    this.colours = {line: colour('--line'), band: colour('--band'), red: colour('--red'), zone: colour('--zone'),
      muted: colour('--muted'), grid: colour('--grid'), card: colour('--card'), text: colour('--text'),
      green: colour('--green')};
    const {chart, colours} = this;
    const [worst, mean] = chart.data.datasets;
    worst.borderColor = colours.band;
    mean.backgroundColor = colours.band;
    mean.borderColor = colours.line;
    mean.segment = {borderColor: (part) => {
      const {threshold, above} = this.shown;
      const bad = above ? part.p1.parsed.y > threshold : part.p1.parsed.y < threshold;
      return threshold !== null && bad ? colours.red : undefined;
    }};
    for (const scale of Object.values(chart.options.scales)) {
      scale.ticks.color = colours.muted;
      scale.grid.color = colours.grid;
      scale.grid.borderColor = colours.grid;
    }
  }

  // points as for bucketed(); events as the server tells them; above: bad scores lie there; from, to: milliseconds.
  update({points, events, threshold, clear, above, decimals, from, to}) {
    this.shown = {threshold, clear, above, decimals, from, to, events: events.filter((event) => event.time_ms >= from && event.time_ms <= to)};
    const drawn = bucketed(points, from, to, above);
    const {chart} = this;
    chart.data.datasets[0].data = drawn.map((point) => ({x: point.x, y: point.worst}));
    chart.data.datasets[1].data = drawn.map((point) => ({x: point.x, y: point.mean}));
    const {x, y} = chart.options.scales;
    [x.min, x.max] = [from, to];
    [y.min, y.max] = axis(drawn, threshold, above, decimals);
    chart.update('none');
  }

  buildTicks(scale) {
    const {from, to} = this.shown;
    const most = Math.max(2, Math.floor(scale.width / 80));
    const step = TICKS.find((one) => (to - from) / one <= most) || TICKS[TICKS.length - 1];
    this.tickStep = step;
    const zone = new Date(to).getTimezoneOffset() * 60000;  // full hours of the clock on the wall
    scale.ticks = [];
    for (let value = Math.ceil((from - zone) / step) * step + zone; value <= to; value += step) scale.ticks.push({value});
  }

  tickText(value) {
    return new Date(value).toLocaleTimeString('en-GB',
      this.tickStep % 60000 === 0 ? {hour: '2-digit', minute: '2-digit'} : {});
  }

  eventsNear(time) {
    const near = (this.shown.to - this.shown.from) / 100;
    return this.shown.events.filter((event) => Math.abs(event.time_ms - time) <= near)
      .slice(-4).map((event) => `${kindOf(event.kind).mark}: ${event.text}`);
  }

  drawZone() {
    const {ctx, chartArea: area, scales: {y}} = this.chart;
    const {threshold, clear, above} = this.shown;
    if (threshold === null) return;
    ctx.save();
    const at = Math.min(area.bottom, Math.max(area.top, y.getPixelForValue(threshold)));
    ctx.fillStyle = this.colours.zone;
    ctx.fillRect(area.left, above ? area.top : at, area.width, above ? at - area.top : area.bottom - at);
    // Each text stands on its level's side that is away from the other level.
    this.drawLevel(threshold, this.colours.red, `alert ${above ? 'above' : 'below'} ${threshold}`, above ? -5 : 12);
    if (clear !== null && clear !== threshold) this.drawLevel(clear, this.colours.green, `clear at ${clear}`, above ? 12 : -5);
    ctx.restore();
  }

  drawLevel(value, colour, text, below) {
    const {ctx, chartArea: area, scales: {y}} = this.chart;
    const at = y.getPixelForValue(value);
    if (at < area.top || at > area.bottom) return;
    ctx.strokeStyle = ctx.fillStyle = colour;
    ctx.lineWidth = 1;
    ctx.setLineDash([5, 4]);
    ctx.beginPath();
    ctx.moveTo(area.left, at);
    ctx.lineTo(area.right, at);
    ctx.stroke();
    ctx.font = '11px system-ui, sans-serif';
    ctx.textAlign = 'left';
    ctx.fillText(text, area.left + 6, at + below);
  }

  // Texts stand in two rows above the plot; where both are taken the line is drawn without.
  drawMarks() {
    const {ctx, chartArea: area, scales: {x}} = this.chart;
    ctx.save();
    ctx.font = '11px system-ui, sans-serif';
    ctx.textAlign = 'center';
    ctx.lineWidth = 1;
    const right = [-Infinity, -Infinity];
    for (const event of this.shown.events) {
      const at = Math.round(x.getPixelForValue(event.time_ms)) + 0.5;
      const bad = ['lost', 'alert_raised', 'file_error'].includes(event.kind);
      ctx.strokeStyle = ctx.fillStyle = bad ? this.colours.red : this.colours.muted;
      ctx.setLineDash(bad ? [] : [2, 3]);
      ctx.beginPath();
      ctx.moveTo(at, area.top);
      ctx.lineTo(at, area.bottom);
      ctx.stroke();
      const text = kindOf(event.kind).mark;
      const half = ctx.measureText(text).width / 2;
      const middle = Math.min(area.right - half, Math.max(area.left + half, at));
      const row = right.findIndex((end) => middle - half > end + 4);
      if (row < 0) continue;
      ctx.fillText(text, middle, area.top - 5 - row * MARK_ROW);
      right[row] = middle + half;
    }
    ctx.restore();
  }
}
