import { DAY, HOUR, MINUTE, SECOND } from './units.ts'

/** A difference from the monotonic clock of this much within an hour is a step of the clock. */
const STEP = 5 * MINUTE

/** A start may be so long after the last note: the service was stopped, or died before its next note. */
const AHEAD_AT_START = HOUR

/** After a step the clock is trusted again when the service has run for so long; after a long one it takes a day. */
const WAIT = HOUR
const LONG_WAIT = DAY

/** A step beyond this is long: it is more than a service is usually stopped for. */
export const LONG_STEP = 90 * DAY

/** What is stored of a clock that is not trusted, in microseconds. */
export interface ClockRecord {
  /** What the clock showed when this was stored. */
  seen_at: number
  step: number
  /** How long services have run with it. */
  ran: number
  /** The time since the start of the machine when this was stored, where all processes run on the same one. */
  up?: number
}

/** Whether the clock is trusted. */
export interface ClockTrust {
  /** The time without the steps of this run, until they are trusted: a step must end no session. */
  sessionNow(): number
  /** How far the clock has stepped, in microseconds; 0 while it is trusted. */
  step(): number
  /** How much longer the service must run until the clock is trusted, in microseconds. */
  rest(): number
  /** Compares the clock with the notes of earlier runs. @param note missing in a database without one: the clock is trusted */
  begin(note: number | undefined, record: ClockRecord | undefined): void
  /** Another process, or an operator, has noted this instant; near the present time it is trusted. */
  noted(note: number | undefined): void
  /** What to store; `undefined` while the clock is trusted. */
  record(): ClockRecord | undefined
}

/** What is logged. */
export interface ClockEvents {
  /** @param change the last step alone, in microseconds; `step` is the difference from the trusted clock */
  stepped(step: number, change: number): void
  /** @param isBack whether the clock shows the time again that it had without the step */
  trusted(isBack: boolean): void
}

interface Distrust {
  /** The trusted difference from the monotonic clock. */
  from: number
  /** The clock is back if it is at most so far ahead of it. */
  ahead: number
  ran: number
  /** Until when `ran` counts, by the monotonic clock. */
  until: number
  /** The difference from the monotonic clock by which sessions are judged; missing after a start: the clock as it is. */
  sessions?: number
}

/** How far the clock and the monotonic clock were apart at a time of the latter. */
interface Sample {
  at: number
  offset: number
}

/** Finds steps of a clock, by comparing it with the monotonic clock. Both are in microseconds. */
export function createClockTrust(clock: () => number, monotonic: () => number, events: ClockEvents): ClockTrust {
  let samples: Sample[] = [sampleOf(clock, monotonic)]
  let distrust: Distrust | undefined
  let known: number | undefined

  function trust(isBack: boolean): void {
    distrust = undefined
    samples = [sampleOf(clock, monotonic)]
    events.trusted(isBack)
  }

  function look(): void {
    const sample = sampleOf(clock, monotonic)
    const last = samples.at(-1)!
    const reference = referenceOf(samples, sample)
    if (!reference && sample.at - last.at < MINUTE) return
    if (reference) {
      distrust = distrustAfter(distrust, { from: reference.offset, last: last.offset, sample })
      samples = []
    }
    samples = [...samples.filter(({ at }) => sample.at - at < HOUR), sample]
    if (distrust) judge(distrust, reference ? sample.offset - last.offset : 0)
  }

  /** @param change the step that was just found; 0 without one */
  function judge(state: Distrust, change: number): void {
    const { at, offset } = samples.at(-1)!
    Object.assign(state, { ran: state.ran + at - state.until, until: at })
    const step = offset - state.from
    const isBack = step >= -STEP && step <= state.ahead
    if (!isBack && change !== 0) events.stepped(step, change)
    if (isBack || state.ran >= waitOf(step)) trust(isBack)
  }

  const stepNow = () => (distrust ? samples.at(-1)!.offset - distrust.from : 0)
  return {
    sessionNow() {
      look()
      return distrust?.sessions === undefined ? clock() : monotonic() + distrust.sessions
    },
    step() {
      look()
      return stepNow()
    },
    rest: () => (distrust ? Math.max(0, waitOf(stepNow()) - distrust.ran) : 0),
    begin(note, record) {
      known = note
      samples = [sampleOf(clock, monotonic)]
      distrust = distrustAtStart(samples[0]!, note, record)
      if (distrust) events.stepped(stepNow(), stepNow())
      else if (record) events.trusted(true)
    },
    noted(note) {
      if (distrust && note !== known && note !== undefined && isNear(clock(), note)) trust(false)
      known = note
    },
    record: () => (distrust ? { seen_at: clock(), step: stepNow(), ran: distrust.ran } : undefined),
  }
}

function sampleOf(clock: () => number, monotonic: () => number): Sample {
  const at = monotonic()
  return { at, offset: clock() - at }
}

/** Where the clock was before a step; `undefined` without one. */
function referenceOf(samples: readonly Sample[], { at, offset }: Sample): Sample | undefined {
  return (
    [samples.at(-1)!].find((reference) => Math.abs(offset - reference.offset) > STEP) ??
    samples.find((reference) => at - reference.at < HOUR && Math.abs(offset - reference.offset) > STEP)
  )
}

/**
 * After another step the wait starts again, unless it may be a machine that slept: else a laptop would never be
 * trusted.
 */
function distrustAfter(
  before: Distrust | undefined,
  { from, last, sample }: { from: number; last: number; sample: Sample },
): Distrust {
  const isSleep = sample.offset - last > 0 && sample.offset - last < DAY
  if (!before) return { from, ahead: STEP, ran: 0, until: sample.at, sessions: last }
  return { ...before, ran: isSleep ? before.ran : 0, sessions: before.sessions ?? last }
}

function distrustAtStart(
  { at, offset }: Sample,
  note: number | undefined,
  record: ClockRecord | undefined,
): Distrust | undefined {
  if (note === undefined) return undefined
  const now = at + offset
  // The previous clock has gone on: the record knows its step, also one that the note does not show.
  if (record && isNear(now, record.seen_at))
    return { from: offset - record.step, ahead: STEP, ran: record.ran, until: at }
  if (isNear(now, note)) return undefined
  const since = record ? now - record.seen_at : -1
  const isSleep = since > 0 && since < DAY
  return { from: note - at, ahead: AHEAD_AT_START, ran: isSleep ? record!.ran : 0, until: at }
}

/** Whether a clock may show this time at a start, after a note. */
export function isNear(now: number, note: number): boolean {
  return now >= note - STEP && now <= note + AHEAD_AT_START
}

const waitOf = (step: number) => (Math.abs(step) > LONG_STEP ? LONG_WAIT : WAIT)

/** A running service stores its record every ten seconds. */
const RECORD_KEPT = 3 * MINUTE

/**
 * Whether a service stored this lately, and so runs. A command may have another clock than the service, whose process
 * alone steps: then the time since the start of their machine shows it.
 */
export function isOfRunning(record: ClockRecord, now: number, up: number | undefined): boolean {
  const isRecent = (a: number, b: number) => Math.abs(a - b) < RECORD_KEPT
  return isRecent(now, record.seen_at) || (up !== undefined && record.up !== undefined && isRecent(up, record.up))
}

/**
 * Why a command must not delete by age; `undefined` if it may. It cannot watch the clock, so it judges by the notes: it
 * runs at any time after the last service has stopped.
 */
export function clockDoubt(
  now: number,
  { note, record, up }: { note?: number | undefined; record?: ClockRecord | undefined; up?: number | undefined },
): string | undefined {
  if (record && isOfRunning(record, now, up))
    return `the clock is ${describeStep(record.step)} after a step, and the running service does not trust it yet`
  if (note === undefined || (now >= note - STEP && now <= note + LONG_STEP)) return undefined
  return `the clock is ${describeStep(now - note)}${now > note ? ' of' : ''} the time that a service last noted in this database`
}

/** A step as text: `8 hours ahead`, `3 days behind`. */
export function describeStep(step: number): string {
  const units = [
    [DAY, 'day'],
    [HOUR, 'hour'],
    [MINUTE, 'minute'],
    [SECOND, 'second'],
  ] as const
  const [size, name] = units.find(([bound]) => Math.abs(step) >= bound) ?? units[3]
  const count = Math.round(Math.abs(step) / size)
  return `${count} ${name}${count === 1 ? '' : 's'} ${step < 0 ? 'behind' : 'ahead'}`
}
