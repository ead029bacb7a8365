import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { loadConfig } from '../../../cli/config/load.ts'
import { checkConfiguration } from '../../../cli/doctor/configuration.ts'
import { folder } from '../process.ts'
import { wrong } from '../run-checks.ts'

it('reports the warnings of a configuration, each with a remedy', () => {
  const file = join(folder({ 'a.toml': '[server]\nhost = "0.0.0.0"\n[security.csrf]\nenabled = false\n' }), 'a.toml')
  chmodSync(file, 0o644)
  const findings = checkConfiguration(loadConfig({ config: file }, { CHAT_PORT: '1' }))
  expect(wrong(findings)).toEqual(['configuration.unknown_variable', 'cookie.not_secure', 'csrf.disabled'])
  const os = checkConfiguration(loadConfig({}, { CHAT_STORAGE__DURABILITY: 'os' }))
  expect(os.at(-1)).toMatchObject({ severity: 'note', code: 'storage.not_synced' })
})

it.each([
  ['[metrics]\ntoken = "hunter2"', 0o640, ['configuration.file_readable']],
  ['[database]\nurl = "postgres://chat:hunter2@db/chat"', 0o604, ['configuration.file_readable']],
  ['[database]\nurl = "postgres://chat@db/chat"', 0o644, []],
  ['[metrics]\ntoken = "hunter2"', 0o600, []],
  ['[server]\nport = 1', 0o644, []],
])('reports who can read the secrets of %j with mode %o, and shows none', (text, mode, codes) => {
  const file = join(folder({ 'a.toml': text }), 'a.toml')
  chmodSync(file, mode)
  const findings = checkConfiguration(loadConfig({ config: file }, {}))
  expect(wrong(findings)).toEqual(codes)
  expect(JSON.stringify(findings)).not.toContain('hunter2')
})
