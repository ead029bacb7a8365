import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { folder, run } from '../process.ts'

const LONG = { timeout: 120_000 }

it('chat-server doctor exits with 0 without problems, 1 with problems, and 2 when it cannot start', LONG, async () => {
  const cwd = folder()
  const env = { CHAT_SERVER__PORT: '9', CHAT_SECURITY__PASSWORD__BCRYPT_COST: '4' }
  const none = await run(['doctor', '--json'], { cwd, env })
  expect([none.code, JSON.parse(none.stdout).healthy]).toEqual([1, false])
  mkdirSync(join(cwd, 'data'), { mode: 0o700 })
  await run(['setup', '--email', 'ada@example.org'], { cwd, env, input: 'correct horse battery' })
  // The low cost of the tests' hashes is a warning.
  const [well, strict, wrongUse] = await Promise.all([
    run(['doctor'], { cwd, env }),
    run(['doctor', '--strict', '--json'], { cwd, env }),
    run(['doctor', '--json'], { cwd, env: { CHAT_SERVER__PORT: 'x' } }),
  ])
  expect([well.code, well.stderr]).toEqual([0, ''])
  expect(well.stdout).toMatch(/^ok {7}configuration.valid .*\nwarning {2}password\.cheap_hashes .*\n +→ Set /)
  expect(well.stdout).toMatch(/^skipped {2}server\.not_running +No service responds at /m)
  expect([strict.code, JSON.parse(strict.stdout).healthy]).toEqual([1, false])
  expect([wrongUse.code, JSON.parse(wrongUse.stdout).error.code]).toEqual([2, 'configuration_invalid'])
})
