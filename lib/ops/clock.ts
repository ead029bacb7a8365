import type { Context, Ports } from '../context.ts'
import { createClock } from '../core/clock.ts'
import { describeStep, LONG_STEP } from '../core/clock-trust.ts'
import { DAY, MINUTE } from '../core/units.ts'
import { noteTrusted, noteUntrusted, readClockNotes, readCommandClock } from '../storage/clock-notes.ts'

/** How often a trusted clock is noted: a start that is later by more than an hour is a step. */
const NOTE_INTERVAL = 10 * MINUTE

/** What a running service stores about its clock, so that the next start knows whether the clock has stepped. */
export interface ClockKeeper {
  /** Judges the clock by the notes of earlier runs. */
  begin(): Promise<void>
  /** Stores what has changed, and takes what an operator or another process has decided. */
  check(): Promise<void>
  /** Notes a trusted clock, at an orderly stop. */
  end(): Promise<void>
}

/** Makes the clock of a service, with what stores its notes. */
export function createServiceClock({ db, log, now: held }: Pick<Context, 'db' | 'log'> & { now: Ports['now'] }) {
  const clock = createClock({ held, isShared: db.dialect === 'postgresql' }, clockEvents({ log }))
  const { now, sessionNow } = clock
  const isTrusted = () => clock.step() === 0
  return { now, isTrusted, time: { clock, sessionNow, clockKeeper: createClockKeeper({ clock, db }) } }
}

/** @returns a keeper, which does nothing if the host has its own clock */
function createClockKeeper({ clock, db }: Pick<Context, 'clock' | 'db'>): ClockKeeper {
  let noted_at: number | undefined
  const isTrusted = () => clock.step() === 0

  async function note(): Promise<void> {
    const at = clock.now()
    await db.write((tx) => noteTrusted(tx, at))
    noted_at = at
  }

  async function takeDecision(): Promise<void> {
    await db.write(async (tx) => {
      clock.noted((await readClockNotes(tx)).note)
      const record = clock.record()
      if (record) await noteUntrusted(tx, record)
    })
    noted_at = undefined
  }

  return {
    async begin() {
      if (!clock.isWatched) return
      const { note: seen, record } = await readClockNotes(db)
      clock.begin(seen, record)
      await (isTrusted() ? note() : takeDecision())
    },
    async check() {
      if (!clock.isWatched) return
      if (!isTrusted()) await takeDecision()
      if (isTrusted() && (noted_at === undefined || Math.abs(clock.now() - noted_at) >= NOTE_INTERVAL)) await note()
    },
    async end() {
      if (clock.isWatched && noted_at !== undefined && isTrusted()) await note()
    },
  }
}

/** An operator declares the present time as right. @returns it, in microseconds */
export async function trustClock(ctx: Context): Promise<number> {
  const { now, doubt } = await readCommandClock(ctx.db)
  await ctx.write(async (tx) => {
    await noteTrusted(tx, now)
    tx.audit({ act: 'clock.trusted', ...(doubt !== undefined && { detail: { reason: doubt } }) })
  })
  return now
}

/** The log lines about the clock. A machine that slept is no reason to worry. */
function clockEvents({ log }: Pick<Context, 'log'>) {
  return {
    stepped(step: number, change: number): void {
      const wait = Math.abs(step) > LONG_STEP ? 'for a day, or until "chat-server clock trust"' : 'for an hour'
      const message = `The clock has stepped: it is ${describeStep(step)}. Nothing is deleted by its age ${wait}`
      if (step > 0 && step < DAY && change > 0) log.info(message)
      else log.warn(step > 0 && change > 0 ? message : `${message}. ${KEPT_TIMES}`)
    },
    trusted(isBack: boolean): void {
      if (isBack) log.info(`The clock shows the right time again, and is trusted. ${KEPT_TIMES}`)
      else log.info('The clock is trusted again: outdated rows are deleted as before')
    },
  }
}

/** The times that a repair keeps, so that the order of messages stays. */
const KEPT_TIMES =
  'Where messages were written with a later time, they and those that follow in their conversation keep it'
