import { expect, it } from 'vitest'
import { OUTAGES } from './outages.ts'
import { hasPrometheus, Missing, openStage } from './stage.ts'

if (!hasPrometheus) console.log('Outages that Prometheus reports skipped: prometheus not found')

/** One test for each outage: before it none of its alerts fires, and then all do. */
export function fireAlerts(names: string[]): void {
  for (const name of names) {
    const { alerts, second, begin } = OUTAGES[name]!
    it.skipIf(!hasPrometheus)(`when ${name}, ${alerts.join(' and ')} fire`, { timeout: 400_000 }, async ({ skip }) => {
      const stage = await openStage(second)
      try {
        expect((await stage.firing()).filter((alert) => alerts.includes(alert))).toEqual([])
        await begin(stage)
        for (const alert of alerts) await stage.fires(alert)
      } catch (error) {
        if (error instanceof Missing) return skip(error.message)
        throw error
      } finally {
        await stage.close()
      }
    })
  }
}
