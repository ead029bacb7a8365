import { type ClockEvents, type ClockTrust, createClockTrust } from './clock-trust.ts'
import { currentMicros, monotonicMicros } from './time.ts'

declare const byAge: unique symbol

/**
 * An instant up to which rows may be deleted by their age. Only `clock.before` makes one, while the clock is trusted: a
 * function that deletes by age takes it instead of a number.
 */
export type Cutoff = number & { readonly [byAge]: true }

/** What was stored to be deleted as soon as possible, with the instant 0, has no age: the clock does not matter. */
export const AT_ONCE = 0 as Cutoff

/** The clock of a service: it decides every instant that is stored, and every expiry. All times are in microseconds. */
export interface Clock extends ClockTrust {
  /** Microseconds since 1970. */
  now(): number
  /** The instant of so long ago, up to which rows may be deleted; `undefined` while the clock is not trusted. */
  before(age: number): Cutoff | undefined
  /** Whether steps are looked for: not when the host has its own clock. */
  readonly isWatched: boolean
  /** Whether it follows the clock of the database, which several machines share. */
  readonly isShared: boolean
  /** The database showed `at` between two moments of {@link monotonicMicros}. */
  learn(began: number, at: number, ended: number): void
  /** How far this machine's clock is behind the database's; `undefined` without a database of its own clock. */
  difference(): number | undefined
}

/** The sources of time, which tests replace. */
export interface ClockSources {
  wall?: () => number
  monotonic?: () => number
}

/**
 * Makes the clock of a service.
 *
 * @param options.held the host's own clock, which is always trusted
 * @param options.isShared whether the clock follows that of the database, as `learn` shows it
 */
export function createClock(
  { held, isShared }: { held?: (() => number) | undefined; isShared: boolean },
  events: ClockEvents,
  { wall = currentMicros, monotonic = monotonicMicros }: ClockSources = {},
): Clock {
  if (held) return heldClock(held)
  // The database's clock minus the monotonic one, so that a step of this machine's clock changes nothing in between.
  let offset: number | undefined
  let isLearnt = false
  if (isShared) offset = wall() - monotonic()
  const now = () => (offset === undefined ? wall() : Math.round(monotonic() + offset))
  const trust = createClockTrust(now, monotonic, events)
  return {
    ...trust,
    now,
    before: (age) => (trust.step() === 0 ? ((now() - age) as Cutoff) : undefined),
    isWatched: true,
    isShared,
    learn(began, at, ended) {
      if (offset === undefined) return
      // It was read at some moment of the call: within that uncertainty the clock stays as it is.
      offset = Math.min(at - began, Math.max(at - ended, offset))
      isLearnt = true
    },
    difference: () => (isLearnt ? now() - wall() : undefined),
  }
}

function heldClock(now: () => number): Clock {
  return {
    now,
    sessionNow: now,
    before: (age) => (now() - age) as Cutoff,
    isWatched: false,
    isShared: false,
    step: () => 0,
    rest: () => 0,
    begin() {},
    noted() {},
    record: () => undefined,
    learn() {},
    difference: () => undefined,
  }
}
