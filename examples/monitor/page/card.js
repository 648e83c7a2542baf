// A rendition on the dashboard: its tile at the top and its card with curve, facts, worst frames, events and pooled values.
import {badge, clock, count, el, kindOf, number, setText, streamTime, table, tableRow, timeOf} from './html.js';
import {ScoreChart, canDraw} from './score_chart.js';

const KEPT_MS = 6 * 3600 * 1000;
const KEPT_EVENTS = 500;
const SHORTEST_MS = 10000;  // that the curve's axis shows
const LOOKS = {connecting: 'busy', running: 'good', lost: 'bad', repeating: 'idle', ended: 'idle', failed: 'bad'};

const SYNC = {timestamp: 'by time stamps', order: 'by order'};  // nothing is found out there
const MODEL_SOURCES = {
  fitted: 'fitted: computed by the surface that is built in, within 0.001 points of the model’s file',
  file: 'file: computed from the model’s file',
};

export const keyOf = (channel, name) => JSON.stringify([channel, name]);
// The difference is shown so many times as large.
export const pictureName = (kind, state) => (kind === 'difference' ? `Difference ×${state.difference_gain}` : kind[0].toUpperCase() + kind.slice(1));
const noRow = (columns) => el('tr', {}, el('td', {colspan: columns, class: 'hint'}, 'None yet'));

// page: {now(), spanMs, view(card, frame)}, what all cards have in common; now() is the server's clock.
export class Card {
  constructor(state, number, page) {
    this.page = page;
    this.id = `rendition-${number}`;
    this.key = keyOf(state.channel, state.name);
    this.label = `${state.channel} / ${state.name}`;
    this.points = state.points.map(([x, mean, worst], n, all) =>
      ({x, mean, worst, step: n + 1 < all.length ? Math.min(all[n + 1][0] - x, all[1][0] - all[0][0]) : 1000}));
    this.events = state.events;
    this.worstShown = null;
    this.build(state);
    this.state = state;
    this.show();
  }

  build(state) {
    const heading = `${this.id}-name`;
    this.badges = el('span', {class: 'badges'});
    this.tileBadges = el('span', {class: 'badges'});
    this.tileScore = el('span', {class: 'score'});
    this.tileWindow = el('span', {class: 'hint'});
    this.tile = el('li', {}, el('a', {href: `#${this.id}`},
      el('span', {class: 'name'}, this.label), this.tileBadges, this.tileScore, this.tileWindow));
    this.canvas = el('canvas', {role: 'img', 'aria-label': `Score of ${this.label}`});
    this.pointsTable = table(`Score of ${this.label}`, ['Time', 'Mean', 'Worst frame'], []);
    this.pointsDetails = el('details', {ontoggle: () => this.showPointsTable()},
      el('summary', {}, 'Score as a table'), this.pointsTable);
    this.facts = el('dl', {class: 'facts'});
    this.factValues = new Map();
    this.pooled = table(null, ['Name', 'Last', 'Mean', 'Min', 'P1', 'P5', 'Median', 'Max', 'Harmonic', 'Std dev'], [], {class: 'pooled', 'aria-labelledby': `${this.id}-pooled`});
    this.worst = table('Worst frames of the last six hours, one of a moment',
      ['Score', 'Reference', 'Distorted', pictureName('difference', state)], [], {class: 'worst'});
    this.eventList = el('ul', {class: 'events'}, el('li', {class: 'hint'}, 'None yet'));
    const scrolling = (label, content) => el('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': label}, content);
    this.caps = el('p', {class: 'hint'});
    this.source = el('p', {class: 'hint source'});
    this.slow = el('p', {class: 'slow'});
    this.section = el('section', {class: 'card', id: this.id, 'aria-labelledby': heading, tabindex: -1},
      el('div', {class: 'title'}, el('h3', {id: heading}, state.name), this.badges),
      this.source,
      this.caps,
      this.slow,
      canDraw() ? el('div', {class: 'chart'}, this.canvas) : null,
      this.pointsDetails,
      this.facts,
      el('div', {class: 'columns'},
        el('div', {}, this.worst),
        el('div', {},
          el('h4', {}, `Events, the last ${KEPT_EVENTS} at most`),
          scrolling(`Events of ${this.label}`, this.eventList))),
      el('h4', {id: `${this.id}-pooled`}, 'Pooled scores and features of the present run'),
      scrolling(`Pooled scores of ${this.label}`, this.pooled));
    this.chart = canDraw() ? new ScoreChart(this.canvas) : null;
    if (!this.chart) this.pointsDetails.open = true;
    for (const event of this.events) this.listEvent(event);
    // A chart that is not on the screen need not be drawn.
    this.visible = false;
    this.watcher = new IntersectionObserver((entries) => {
      this.visible = entries[entries.length - 1].isIntersecting;
      this.draw();
    }, {rootMargin: '200px'});
    this.watcher.observe(this.section);
  }

  remove() {
    this.watcher.disconnect();
    if (this.chart) this.chart.destroy();
  }

  update(state) {
    this.state = state;
    for (const [x, mean, worst] of state.points) {
      if (this.points.length === 0 || x > this.points[this.points.length - 1].x) this.points.push({x, mean, worst, step: 1000});
    }
    while (this.points.length && this.points[0].x < this.shown()[1] - KEPT_MS) this.points.shift();
    this.show();
  }

  happened(event) {
    if (this.events.some((known) => known.id === event.id)) return;
    this.events.push(event);
    if (this.events.length > KEPT_EVENTS) this.events.shift();
    this.listEvent(event);
    this.showSource();
    this.draw();
  }

  listEvent(event) {
    const {words, look} = kindOf(event.kind);
    this.eventList.querySelector('.hint')?.remove();
    this.eventList.prepend(el('li', {}, timeOf(event.time_ms), badge(words, look), el('span', {}, event.text)));
    while (this.eventList.children.length > KEPT_EVENTS) this.eventList.lastChild.remove();
  }

  alertText() {
    const raised = this.events.filter((event) => event.kind === 'alert_raised').pop();
    return raised ? raised.text : `the score is ${this.state.higher_is_worse ? 'above' : 'below'} ${this.state.alert_threshold}`;
  }

  // What is to be said of it before all else: pairs of a word and why.
  notices() {
    const {state, state_text: words} = this.state;
    const gone = ['lost', 'failed'].includes(state);
    return [...(this.state.alert ? [['Alert', this.alertText()]] : []),
      ...(gone ? [[words.split(',')[0].replace(/^./, (first) => first.toUpperCase()), this.lossText()]] : [])];
  }

  lossText() {
    return this.events.filter((event) => event.kind === 'lost').pop()?.text || '';
  }

  // One digit less than in tables.
  score(value) {
    return number(value, this.state.score_decimals - 1);
  }

  show() {
    const {state} = this;
    this.showBadges();
    this.section.toggleAttribute('data-alert', state.alert);
    this.tile.toggleAttribute('data-alert', state.alert);
    this.showTile();
    this.showSource();
    setText(this.caps, [state.caps, state.reference && `reference ${state.reference}`].filter(Boolean).join(' · '));
    this.showFacts();
    this.showPooled();
    this.showWorst();
    this.draw();
  }

  // Without a connection nobody knows how it stands.
  showBadges() {
    const {state} = this;
    const {connected} = this.page;
    const words = connected ? state.state_text[0].toUpperCase() + state.state_text.slice(1) : 'No connection';
    const look = (connected && LOOKS[state.state]) || 'idle';
    const alert = connected && state.alert;
    const slow = connected && state.slow_text && 'Slower than the stream';
    for (const place of [this.badges, this.tileBadges]) {
      const wanted = (alert ? 'Alert ' : '') + (slow ? `${words} ${slow}` : words);
      if (place.textContent === wanted) continue;
      place.replaceChildren(...(alert ? [badge('Alert', 'alert'), ' '] : []), badge(words, look),
        ...(slow ? [' ', badge(slow, 'busy')] : []));
    }
  }

  // With what has been changed in this run.
  showSource() {
    const begin = this.events.findLastIndex((event) => event.kind === 'retry') + 1;
    const changes = new Map(this.events.slice(begin).filter((event) => event.kind === 'changed')
      .map((event) => [event.text.split(' = ')[0], event.text]));
    setText(this.source, this.state.source + (changes.size ? ` · now ${[...changes.values()].join(', ')}` : ''));
  }

  worstOfWindow() {
    return this.state.higher_is_worse ? 'max' : 'min';
  }

  // When there will be a window, if the first one is not over yet.
  firstWindow() {
    const {state, window, window_seconds: seconds} = this.state;
    return state === 'running' && !window ? `after ${seconds} s` : null;
  }

  windowScore(name) {
    return this.firstWindow() || this.score((this.state.window || {})[name]);
  }

  // What has ended shows how it was.
  showTile() {
    const {state} = this;
    const end = this.worstOfWindow();
    const run = ['ended', 'repeating'].includes(state.state) && state.pooled[state.score_name];
    setText(this.tileScore, this.score(run ? run.mean : state.score));
    setText(this.tileWindow, ['lost', 'failed'].includes(state.state) ? this.lossText() : run ? `mean of the run · ${end} ${this.score(run[end])}`
      : this.firstWindow() ? `window mean ${this.firstWindow()}`
        : `last ${state.window_seconds} s: mean ${this.windowScore('mean')} · ${end} ${this.windowScore(end)}`);
  }

  showFacts() {
    const {state} = this;
    const {counters} = state;
    const facts = {
      'Score': this.score(state.score),
      'Window mean': this.windowScore('mean'),
      [`Window ${this.worstOfWindow()}`]: this.windowScore(this.worstOfWindow()),
      'Window p5': this.windowScore('p5'),
      'Frames/s': state.rate_text,
      'Lag': `${number(state.lag_seconds, 2)} s`,
      'Offset': `${number(state.offset_seconds, 3)} s`,
      'Sync': state.sync_state ? `${state.sync_state}, ${Math.round(state.confidence * 100)} %` : SYNC[state.sync] || '–',
      'Compared': count(counters.compared),
      'Dropped': count(counters.skipped),
      'Unmatched': `${count(counters.ref_unmatched)} ref, ${count(counters.dist_unmatched)} dist`,
      'Alerts': count(counters.alerts),
      'Restarts': count(counters.restarts),
      'Back end': state.backend || '–',
      'Model': state.model_source ? [state.model, state.model_source].filter(Boolean).join(', ') : '–',
    };
    for (const [name, value] of Object.entries(facts)) {
      if (!this.factValues.has(name)) {
        const place = el('dd');
        this.factValues.set(name, place);
        this.facts.append(el('div', {}, el('dt', {}, name), place));
      }
      setText(this.factValues.get(name), value);
    }
    this.factValues.get('Score').title = state.score_name || '';
    this.factValues.get('Back end').title = state.backend_reason;
    this.factValues.get('Model').title = MODEL_SOURCES[state.model_source] || '';
    this.factValues.get('Frames/s').toggleAttribute('data-slow', state.slow_text !== null);
    this.slow.hidden = state.slow_text === null;
    setText(this.slow, state.slow_text || '');
  }

  showPooled() {
    const {pooled, features, decimals} = this.state;
    const isScore = (name) => name === this.state.score_name;
    const names = Object.keys({...pooled, ...features}).sort((a, b) => isScore(b) - isScore(a) || (a < b ? -1 : 1));
    const rows = names.map((name) => {
      const one = pooled[name] || {};
      const values = [features[name], one.mean, one.min, one.p1, one.p5, one.p50, one.max, one.harmonic_mean, one.stddev];
      return tableRow([name, ...values.map((value) => number(value, decimals[name]))]);
    });
    this.pooled.tBodies[0].replaceChildren(...(rows.length ? rows : [noRow(10)]));
  }

  // Rows are renewed only if the frames are others, so that the focus stays where it is.
  showWorst() {
    const {worst} = this.state;
    const shown = worst.map((frame) => frame.id + (frame.reference || '') + (frame.difference || '')).join();
    if (shown === this.worstShown) return;
    this.worstShown = shown;
    const rows = worst.map((frame) => tableRow([
      el('span', {}, el('b', {}, number(frame.score, this.state.score_decimals)), el('span', {}, 'at ', timeOf(frame.time_ms)),
        frame.stream_time_ns === null ? null : el('span', {class: 'hint'}, `${streamTime(frame.stream_time_ns)} in the stream`)),
      ...['reference', 'distorted', 'difference'].map((kind) => (frame[kind]
        ? el('button', {class: 'thumbnail', onclick: () => this.page.view(this, frame)},
          el('img', {src: frame[kind], width: 120, loading: 'lazy', alt: `${pictureName(kind, this.state)}, frame of score ${number(frame.score, this.state.score_decimals)}, enlarge`}))
        : el('span', {class: 'hint'}, 'no picture'))),
    ]));
    this.worst.tBodies[0].replaceChildren(...(rows.length ? rows : [noRow(4)]));
  }

  // [from, to] of the curve in milliseconds: the span that was chosen, or what there is of it.
  shown() {
    const {points, page} = this;
    const last = points.length ? points[points.length - 1].x + 1000 : page.now();
    const to = ['ended', 'failed'].includes(this.state.state) ? last : page.now();
    const first = points.find((point) => point.x >= to - page.spanMs);
    if (!first) return [to - Math.min(page.spanMs, 60000), to];
    return [first.x, Math.max(to, first.x + SHORTEST_MS)];
  }

  draw() {
    if (!this.visible) return;
    this.showPointsTable();
    if (!this.chart) return;
    const {state} = this;
    const [from, to] = this.shown();
    const worst = this.worstOf(this.points.filter((point) => point.x >= from));
    this.canvas.setAttribute('aria-label',
      `Score of ${this.label} from ${clock(from)} to ${clock(to)}: now ${this.score(state.score)}, worst ${this.score(worst)}`);
    this.chart.update({points: this.points, events: this.events, threshold: state.alert_threshold, clear: state.alert_clear,
      above: state.higher_is_worse, decimals: state.score_decimals, from, to});
  }

  worstOf(points) {
    const values = points.map((point) => point.worst);
    return values.length === 0 ? NaN : this.state.higher_is_worse ? Math.max(...values) : Math.min(...values);
  }

  // What the chart shows, in about twenty rows; nobody reads it while it is closed.
  showPointsTable() {
    if (!this.pointsDetails.open) return;
    const [from, to] = this.shown();
    const step = Math.ceil((to - from) / 20000) * 1000;
    const rows = [];
    for (let begin = Math.floor(from / step) * step; begin < to; begin += step) {
      const part = this.points.filter((point) => point.x >= Math.max(begin, from) && point.x < begin + step);
      if (part.length === 0) continue;
      const mean = part.reduce((sum, point) => sum + point.mean, 0) / part.length;
      rows.push(tableRow([timeOf(begin), this.score(mean), this.score(this.worstOf(part))]));
    }
    this.pointsTable.tBodies[0].replaceChildren(...rows.reverse());
  }
}
