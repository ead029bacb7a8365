import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, it, onTestFinished } from 'vitest'
import { ROOT } from '../support/example.ts'
import { freePort } from '../support/free-port.ts'

const [, runtime = ''] = readFileSync(join(ROOT, 'examples', 'deploy', 'Dockerfile'), 'utf8').split(/^FROM .*slim$/m)

/** Files that the steps of the image put into an empty folder, and the user that runs them there. */
interface Image {
  program: string
  data: string
  env: Record<string, string>
  as: { uid?: number; gid?: number }
}

/** The user `node` of the image; only root can become it. */
const USER = process.getuid?.() === 0 ? { uid: 1000, gid: 1000 } : {}

const run = promisify(execFile)

beforeAll(() => {
  expect(runtime).toContain('ENTRYPOINT')
})

/** Follows the steps of the Dockerfile, except for those that need a registry of images or of packages. */
async function build(): Promise<Image> {
  const folder = mkdtempSync(join(tmpdir(), 'chat-image-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  chmodSync(folder, 0o755)
  const opt = join(folder, 'opt', 'chat-server')
  for (const [, sources] of runtime.matchAll(/^COPY --from=build (.*) \S+$/gm)) {
    for (const source of sources!.split(' ').map((path) => path.replace('/src/', ''))) {
      if (source === 'node_modules') continue
      cpSync(join(ROOT, source), join(opt, source), {
        recursive: true,
        filter: (path) => !path.includes('node_modules'),
      })
    }
  }
  // What `npm ci && npm prune --omit=dev` leaves.
  const { stdout } = await run('npm', ['ls', '--all', '--omit=dev', '--parseable'], { cwd: ROOT }).catch(
    (error) => error,
  )
  const packages = (stdout as string).split('\n').filter((path) => path.includes('node_modules'))
  expect(packages.length).toBeGreaterThan(20)
  for (const path of packages) {
    const target = join(opt, relative(ROOT, path))
    mkdirSync(dirname(target), { recursive: true })
    // Without the sources of the addon, which take longer to copy than all the rest.
    cpSync(path, target, {
      recursive: true,
      filter: (file) => !/better-sqlite3\/(deps|build\/Release\/obj)/.test(file),
    })
  }
  const data = join(folder, 'data')
  mkdirSync(data, { mode: 0o700 })
  if (USER.uid) chownSync(data, USER.uid, USER.gid)
  return {
    program: join(opt, 'dist/cli/main.js'),
    data,
    env: { ...environment(data), CHAT_SERVER__PORT: String(await freePort()) },
    as: USER,
  }
}

function environment(data: string): Record<string, string> {
  const [, line = ''] = /^ENV (.*)$/m.exec(runtime) ?? []
  return Object.fromEntries(line.split(' ').map((pair) => pair.replace('/data', data).split(/=(.*)/s, 2)))
}

/** Runs an instruction in the form of a list, such as `CMD ["serve"]`. */
function argumentsOf(instruction: string): string[] {
  const [, list = '[]'] = new RegExp(`${instruction} (\\[.*\\])$`, 'm').exec(runtime) ?? []
  return JSON.parse(list)
}

it('the image serves as its user, with the packages that run it, and its health check follows the port', {
  timeout: 120_000,
}, async () => {
  const { program, data, env, as } = await build()
  const options = { cwd: data, env: { PATH: process.env.PATH!, ...env }, ...as }
  expect(argumentsOf('ENTRYPOINT')).toEqual(['chat-server'])
  const [checker, ...check] = argumentsOf('CMD')
  expect(checker).toBe('chat-server')
  const isHealthy = () =>
    run(process.execPath, [program, ...check], options).then(
      () => true,
      () => false,
    )
  expect(await isHealthy()).toBe(false)

  const serving = spawn(process.execPath, [program, ...argumentsOf('^CMD')], options)
  onTestFinished(() => void serving.kill('SIGKILL'))
  const exited = once(serving, 'exit')
  await once(serving.stdout, 'data')
  expect(await isHealthy()).toBe(true)
  const asked = run(process.execPath, [program, 'setup', '--email', 'you@example.org', '--json'], options)
  asked.child.stdin!.end('correct horse battery')
  expect(JSON.parse((await asked).stdout)).toMatchObject({ user: { email: 'you@example.org' } })
  const doctor = await run(process.execPath, [program, 'doctor', '--json'], options).catch((error) => error)
  const { findings } = JSON.parse(doctor.stdout)
  expect(findings.filter(({ severity }: { severity: string }) => severity === 'error')).toEqual([])
  serving.kill('SIGTERM')
  expect(await exited).toEqual([0, null])
})
