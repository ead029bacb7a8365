import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { folder, run } from '../process.ts'

const key = () => randomBytes(32).toString('base64')

it('of a former key only those are told who have configured one', { timeout: 60_000 }, async () => {
  const present = `[security]\nsecret_key = "${key()}"\n`
  const cwd = folder({
    'stored.toml': '[log]\nlevel = "warn"\n',
    'present.toml': present,
    'former.toml': `${present}previous_secret_keys = ["${key()}"]\n`,
  })
  await run(['setup', '--email', 'ada@example.org'], { cwd, input: 'correct horse battery' })
  const status = async (config: string) => (await run(['secret', 'status', '--config', config], { cwd })).stdout
  const text = '0 values are encrypted. None of them needs a former key.'
  expect(await status('stored.toml')).toBe(`${text}\n`)
  expect(await status('present.toml')).toBe(`${text}\n`)
  expect(await status('former.toml')).toBe(
    `${text} What a former key has signed is taken for a day: then remove it from security.previous_secret_keys.\n`,
  )
})
