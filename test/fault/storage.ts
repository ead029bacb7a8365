/**
 * Runs every fault of the storage under a running service, and counts what is lost. It fails if anything is.
 *
 * `tsx test/fault/storage.ts [cycles] [part of a fault's name]`; CHAOS_SEED repeats the choices of a run.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onDatabases } from './databases.ts'
import { createRandom, newSeed } from './random.ts'
import { DAMAGES, damage, LOSSES, makeSpecimen, settleSpecimen } from './storage/damage.ts'
import { failEachCall } from './storage/io.ts'
import { killMigrations } from './storage/migrations.ts'
import { endurePostgres } from './storage/postgres.ts'
import { POSTGRES_FAULTS, POSTGRES_RESTARTS } from './storage/postgres-faults.ts'
import { endureSqlite } from './storage/sqlite.ts'
import { SQLITE_FAULTS } from './storage/sqlite-faults.ts'
import type { Figures } from './storage/stage.ts'

/** The duration of faults with a bound of their own: longer than the bound. */
const LASTS_MS = 10_000

/** The maximum time until a service works again. */
const RECOVERY_MS = 5_000

const [cycles = '10', part = ''] = process.argv.slice(2)
const seed = newSeed()
console.log(`seed ${seed}`)
const random = createRandom(seed)
const isWanted = (name: string) => name.includes(part)

console.log('| fault | database | cycles | acknowledged | lost | posts answered | reads | back after | stall |')
console.log('| --- | --- | ---: | ---: | ---: | --- | --- | ---: | ---: |')
const LONG = ['locked by another process', 'way to it silent', 'conversation locked by another session']
for (const name of Object.keys(SQLITE_FAULTS).filter(isWanted)) {
  await row(name, 'sqlite', () => endureSqlite(name, lasting(name)))
}
for (const name of [...Object.keys(POSTGRES_FAULTS), ...Object.keys(POSTGRES_RESTARTS)].filter(isWanted)) {
  await row(name, 'postgresql', () => endurePostgres(name, lasting(name)))
}
for (const calls of ['pwrite64', 'fsync'] as const) {
  if (!isWanted(calls)) continue
  const folder = mkdtempSync(join(tmpdir(), 'chat-fault-'))
  await row(calls, 'sqlite', () => failEachCall(join(folder, 'chat.db'), calls, 3 * Number(cycles)))
  rmSync(folder, { recursive: true })
}
if (isWanted('damage')) await damageAll()
if (isWanted('migrations')) {
  await onDatabases(undefined, async ({ dialect, another }) => {
    const { kills, faults } = await killMigrations(another, 1)
    console.log(`${dialect}: migrations killed at each of ${kills} statements, ${faults.length} faults`)
    complain(faults)
  })
}

function lasting(name: string): { cycles: number; lasts_ms?: number } {
  return LONG.includes(name)
    ? { cycles: Math.ceil(Number(cycles) / 5), lasts_ms: LASTS_MS }
    : { cycles: Number(cycles) }
}

async function row(name: string, database: string, run: () => Promise<Figures | string>): Promise<void> {
  const figures = await run().catch((error: unknown) => String(error))
  if (typeof figures === 'string') {
    console.log(`| ${name} | ${database} | not run: ${figures} |`)
    if (figures.startsWith('Error')) process.exitCode = 1
    return
  }
  const { acknowledged, lost, seen, reads, recovered_ms, stall_ms, faults } = figures
  const milliseconds = (ms: number) => `${Math.round(ms)} ms`
  const columns = [figures.fault, database, figures.cycles, acknowledged, lost, seen.join(', '), reads]
  console.log(`| ${[...columns, milliseconds(recovered_ms), milliseconds(stall_ms)].join(' | ')} |`)
  complain(recovered_ms > RECOVERY_MS && reads !== 'killed' ? [...faults, 'it took too long to come back'] : faults)
}

/** A file that is damaged while it is not in use. */
async function damageAll(): Promise<void> {
  const specimen = await makeSpecimen()
  const outcomes = new Map<string, number>()
  const tryOne = async (name: string) => {
    const options = { mayLose: LOSSES.includes(name) }
    const outcome = await damage(specimen, (file) => DAMAGES[name]!(file, random), options).catch((error: Error) => {
      complain([`${name}: ${error.message}`])
      return 'badly'
    })
    outcomes.set(`${name}: ${outcome}`, (outcomes.get(`${name}: ${outcome}`) ?? 0) + 1)
  }
  for (const name of Object.keys(DAMAGES)) await tryOne(name)
  await settleSpecimen(specimen)
  for (const name of ['not a database', 'cut in half', 'first page of noise']) await tryOne(name)
  for (let n = 0; n < 20 * Number(cycles); n++) await tryOne('a page of noise')
  specimen.remove()
  for (const [outcome, count] of outcomes) console.log(`${outcome} (${count})`)
}

function complain(faults: string[]): void {
  for (const fault of faults.slice(0, 20)) console.log(`  ${fault}`)
  if (faults.length > 0) process.exitCode = 1
}
