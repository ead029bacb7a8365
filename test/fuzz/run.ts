/**
 * Holds the service against its own description: schemathesis sends what `/openapi.json` allows and what it forbids, and
 * looks whether status, headers and bodies are as described, on each database.
 *
 * `tsx test/fuzz/run.ts [examples per operation] [sqlite|postgresql]`; FUZZ_SEED repeats a run. Needs Python 3.10 or
 * newer with pip; where it is missing, or schemathesis cannot be installed, the run is skipped in one line.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onDatabases } from '../fault/databases.ts'
import { PASSES } from './passes.ts'
import { install, schemathesis } from './schemathesis.ts'
import { startTarget } from './target.ts'

const [examples = '20', wanted] = process.argv.slice(2)
const seed = process.env.FUZZ_SEED ?? String(Math.floor(Math.random() * 2 ** 31))

const program = install()
if (program === undefined)
  console.log('schemathesis skipped: Python 3.10 with pip, or its packages, cannot be had here')
else await run(program)

async function run(program: string): Promise<void> {
  console.log(`seed ${seed}`)
  let [passed, failed] = [0, 0]
  const folder = mkdtempSync(join(tmpdir(), 'chat-fuzz-'))
  await onDatabases(wanted, async ({ dialect, url }) => {
    const target = await startTarget(url)
    for (const pass of PASSES) {
      const headers = await target.headers(pass.as)
      console.log(`\n== ${dialect}: ${pass.name}`)
      const is_sound = await schemathesis(program, { ...pass, url: target.url, headers, examples, seed, folder })
      if (is_sound) passed++
      else failed++
    }
    await target.close()
  })
  rmSync(folder, { recursive: true, force: true })
  console.log(`\n${passed} passed, ${failed} failed`)
  process.exitCode = failed > 0 ? 1 : 0
}
