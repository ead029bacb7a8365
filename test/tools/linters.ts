import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import spectralCore from '@stoplight/spectral-core'
import parsers from '@stoplight/spectral-parsers'
import rulesets from '@stoplight/spectral-rulesets'

const require = createRequire(import.meta.url)

/** All that Spectral's rules for OpenAPI have against a document, hints included. */
export async function spectral(openApi: object): Promise<string[]> {
  const linter = new spectralCore.Spectral()
  // biome-ignore lint/suspicious/noExplicitAny: the two packages of Spectral disagree about the type of a ruleset.
  linter.setRuleset({ extends: [[rulesets.oas as any, 'recommended']] })
  const found = await linter.run(new spectralCore.Document(JSON.stringify(openApi), parsers.Json, 'openapi.json'))
  return found.map(({ code, path, message }) => `${code} at ${path.join('.')}: ${message}`)
}

interface RedoclyReport {
  problems: { ruleId: string; message: string; location: { pointer?: string }[] }[]
}

/** Ids of users have another form than the word `by-subject`, which comes first: the service tells these paths apart. */
const isProblem = ({ ruleId, message }: RedoclyReport['problems'][number]) =>
  ruleId !== 'no-ambiguous-paths' || !message.includes('`/api/admin/users/by-subject/{subject}`')

/** All that the recommended rules of Redocly have against a document, warnings included. */
export async function redocly(openApi: object): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'chat-redocly-'))
  try {
    await writeFile(join(folder, 'openapi.json'), JSON.stringify(openApi))
    const command = join(dirname(require.resolve('@redocly/cli/package.json')), 'bin', 'cli.js')
    const args = ['lint', 'openapi.json', '--extends=recommended', '--format=json', '--max-problems=1000']
    // It looks for no newer version, and sends no usage data.
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
    const run = promisify(execFile)(process.execPath, [command, ...args], { cwd: folder, env, maxBuffer: 1e8 })
    const { stdout } = await run.catch((error: { stdout: string }) => error)
    const { problems } = JSON.parse(stdout) as RedoclyReport
    return problems
      .filter(isProblem)
      .map(({ ruleId, message, location }) => `${ruleId} at ${location[0]?.pointer}: ${message}`)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
