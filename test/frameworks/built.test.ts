import { execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, openBrowser, type Page } from '../support/browser.ts'
import { ROOT } from '../support/example.ts'
import { freePort } from '../support/free-port.ts'
import { type Host, walkHost } from '../support/hosts.ts'

/** The examples that are built before they run, and their programs. */
const BUILT: Record<string, string[]> = {
  nitro: ['.output/server/index.mjs'],
  next: ['node_modules/next/dist/bin/next', 'start', '--hostname', '127.0.0.1'],
}

const run = promisify(execFile)
let folder: string

// As published: a bundler sees the package, not the sources of this project.
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'chat-built-'))
  await run('npm', ['pack', '--pack-destination', folder], { cwd: ROOT })
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describe.each(Object.entries(BUILT))('%s', (name, program) => {
  let url: string
  walkHost(async () => {
    const project = await build(name)
    const host = await startProgram(project, program, await freePort())
    url = host.url
    return host
  })

  it.runIf(name === 'next')('renders hooks on the server, and shows what they read in a browser', async ({ skip }) => {
    const signIn = { method: 'POST', body: JSON.stringify({ username: 'grace', password: 'battery staple' }) }
    const { headers } = await fetch(`${url}/login`, signIn)
    const cookie = headers.getSetCookie()[0]!.split(';')[0]!
    const rendered = await fetch(`${url}/messages`, { headers: { cookie } })
    expect([rendered.status, await rendered.text()]).toEqual([200, expect.stringContaining('<ul aria-busy="false">')])

    skip(!hasBrowser, 'Chromium is not installed')
    const page = await (await (await openBrowser()).newContext()).newPage()
    const problems: string[] = []
    page.on('pageerror', (error) => problems.push(error.message))
    await page.goto(url)
    await page.evaluate(`(async () => {
      await fetch('/login', ${JSON.stringify(signIn)})
      const body = JSON.stringify({ title: 'Turbines' })
      const headers = { 'content-type': 'application/json' }
      await fetch('/chat/api/conversations', { method: 'POST', headers, body })
    })()`)
    await page.goto(`${url}/messages`)
    await page.waitForSelector('li:text("Turbines (0)")')
    const html = await (await fetch(`${url}/messages`, { headers: { cookie } })).text()
    expect(html.replaceAll('<!-- -->', '')).toContain('<ul aria-busy="false"><li>Turbines (0)</li>')
    expect(problems).toEqual([])
  })

  it.runIf(name === 'next')(
    'resumes an answer of useChat after a reload, stops it, asks again, and shows the chats of the person alone',
    async ({ skip }) => {
      skip(!hasBrowser, 'Chromium is not installed')
      const browser = await openBrowser()
      const problems: string[] = []
      async function signIn(username: string, password: string): Promise<Page> {
        const page = await (await browser.newContext()).newPage()
        page.on('pageerror', (error) => problems.push(error.message))
        await page.goto(url)
        const login = { method: 'POST', body: JSON.stringify({ username, password }) }
        await page.evaluate(`fetch('/login', ${JSON.stringify(login)}).then(({ status }) => status)`)
        await page.goto(`${url}/assistant`)
        return page
      }
      const page = await signIn('ada', 'correct horse')
      const isReady = () => page.waitForSelector('main[data-status=ready]', { state: 'attached' })
      const has = (text: string) => page.waitForSelector(`.assistant:last-child:has-text("${text}")`)
      const texts = () => page.locator('main p').allTextContents()
      const send = async (text: string) => {
        await page.fill('[name=text]', text)
        await page.click('button:text("Send")')
      }

      await isReady()
      await send('Count to 2')
      await has('1 2 ')
      await isReady()
      await page.waitForSelector('nav a:text("Count to 2")')
      await page.click('button:text("Ask again")')
      await expect.poll(() => page.evaluate(COUNT_VARIANTS)).toBe(2)
      await isReady()
      // More than a test waits for.
      await send('Count to 9999')
      await has(' 5 ')
      await page.reload()
      await page.waitForSelector('main[data-status=streaming]')
      await has(' 6 ')
      await page.click('button:text("Stop")')
      await isReady()
      const stopped = (await texts()).at(-1)!
      await page.reload()
      await has(stopped.trim())
      expect(await texts()).toEqual(['Count to 2', '1 2 ', 'Count to 9999', stopped])

      const grace = await signIn('grace', 'battery staple')
      await grace.waitForSelector('nav')
      expect(await grace.locator('nav a').allTextContents()).toEqual(['New chat'])
      expect(problems).toEqual([])
    },
  )
})

/** What the newest answer of the page has beside it. */
const COUNT_VARIANTS = `fetch('/chat/api/ui/chat/' + new URLSearchParams(location.search).get('chat'))
  .then((response) => response.json())
  .then(({ messages }) => messages.at(-1).metadata?.variants?.length)`

/** Installs an example and the package in a folder of its own. @returns the folder */
async function build(name: string): Promise<string> {
  const project = join(folder, name)
  await cp(join(ROOT, 'examples', name), project, {
    recursive: true,
    filter: (path) => !/node_modules|\.next|\.output/.test(path),
  })
  const npm = (...args: string[]) =>
    run('npm', args, { cwd: project, env: { ...process.env, NEXT_TELEMETRY_DISABLED: '1' } })
  const flags = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund']
  // Without a lockfile: one has the packages of a single platform in it, of which bundlers have a dozen.
  const tarball = (await readdir(folder)).find((file) => file.endsWith('.tgz'))!
  // The addon is not compiled once more: the build of this project is copied.
  const addon = join('node_modules', 'better-sqlite3')
  const { version } = JSON.parse(await readFile(join(ROOT, addon, 'package.json'), 'utf8'))
  await npm('install', '--no-save', ...flags, join(folder, tarball), `better-sqlite3@${version}`)
  await cp(join(ROOT, addon, 'build', 'Release'), join(project, addon, 'build', 'Release'), { recursive: true })
  await npm('run', 'build')
  return project
}

async function startProgram(cwd: string, args: string[], port: number): Promise<Host> {
  const SESSION_SECRET = randomBytes(32).toString('base64url')
  const env = {
    PATH: process.env.PATH,
    HOST: '127.0.0.1',
    PORT: `${port}`,
    DATABASE: 'sqlite::memory:',
    SESSION_SECRET,
  }
  const child = spawn(process.execPath, args, { cwd, env: { ...env, NODE_ENV: 'production', NODE_NO_WARNINGS: '1' } })
  let [output, errors] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text
  })
  child.stderr.setEncoding('utf8').on('data', (text) => {
    errors += text
  })
  const url = `http://127.0.0.1:${port}`
  while (!(await fetch(`${url}/chat/healthz`).catch(() => undefined))?.ok) {
    if (child.exitCode !== null) throw new Error(`${args[0]} ended with ${child.exitCode}: ${output}${errors}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return {
    url,
    // The examples log to the console.
    addressOfAcceptance: async () => /act: 'invite.accepted'[^}]*ip: '([^']*)'/.exec(output)?.[1],
    complaints: () => errors.split('\n').filter((line) => line !== ''),
    async close() {
      child.kill('SIGKILL')
      await once(child, 'close')
    },
  }
}
