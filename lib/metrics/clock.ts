import { type Family, sharedGauge } from './page.ts'

/** The clock of a service, in seconds. */
export interface ClockLevels {
  /** How far it has stepped; 0 while it is trusted. */
  step: number
  /** How far the clock of this machine is behind the database's, where that has its own. */
  difference?: number | undefined
}

/** The families of the clock. */
export function clockFamilies({ step, difference }: ClockLevels): Family[] {
  const differs = 'How far the clock of this machine is behind the clock of PostgreSQL'
  return [
    sharedGauge('chat_clock_step_seconds', 'How far the clock has stepped; 0 while it is trusted', step),
    sharedGauge('chat_clock_difference_seconds', differs, difference),
  ]
}
