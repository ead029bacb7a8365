/**
 * Replaces the PostgreSQL of two nodes under load. It fails if an acknowledged post is lost, or an event is missing,
 * repeated or out of order in any stream.
 *
 * `tsx test/fault/failover.ts [cycles]`
 */
import { isInstalled, startCluster } from '../support/postgres.ts'
import { failOver } from './failovers.ts'

const [cycles = '1'] = process.argv.slice(2)
if (!isInstalled()) console.log('PostgreSQL is not installed, skipped')
else for (let cycle = 0; cycle < Number(cycles); cycle++) await runCycle()

async function runCycle(): Promise<void> {
  const cluster = (await startCluster())!
  try {
    const { faults, ...figures } = await failOver(cluster, (what) => console.log(`  ${what}`))
    console.log(figures)
    for (const fault of faults.slice(0, 20)) console.log(`  ${fault}`)
    if (faults.length > 0) process.exitCode = 1
  } finally {
    await cluster.stop()
  }
}
