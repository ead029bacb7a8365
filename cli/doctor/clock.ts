import { describeStep, LONG_STEP } from '../../lib/core/clock-trust.ts'
import { DAY } from '../../lib/core/units.ts'
import type { CommandClock } from '../../lib/storage/clock-notes.ts'
import { type Finding, failure, note, ok, warning } from './finding.ts'

/** Whether the clock continues from where a service noted it. */
export function judgeStep({ now, note: seen_at, record, is_running, doubt }: CommandClock): Finding {
  const step = is_running ? record!.step : doubt === undefined || seen_at === undefined ? 0 : now - seen_at
  if (step === 0 || doubt === undefined) return ok('clock.step', 'The clock goes on from where a service noted it.')
  const message = `${doubt[0]!.toUpperCase()}${doubt.slice(1)}. Nothing is deleted by its age until it is trusted.`
  const remedy = 'Correct the clock of the machine. If it is right, run "chat-server clock trust".'
  if (Math.abs(step) > LONG_STEP) return failure('clock.step', message, remedy)
  // A machine that slept, or a service that was stopped.
  if (step > 0 && step < DAY) return note('clock.step', `The clock is ${describeStep(step)}: it is trusted in an hour.`)
  return warning('clock.step', message, remedy)
}
