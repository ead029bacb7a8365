import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, sep } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createChatClient } from '../lib/client/index.ts'
import { hasBrowser, openBrowser, type Page } from './support/browser.ts'
import { ROOT, start } from './support/example.ts'

const PASSWORD = 'correct horse battery'

// The code of the pages is compiled against the published types.
beforeAll(async () => {
  const newest = Math.max(...['lib', 'cli'].flatMap(filesBelow).map(modifiedAt))
  if (modifiedAt('dist/lib/index.js') > newest) return
  // Type errors are for `npm run types` to report; what is built in spite of them can be run.
  await compile(ROOT)
}, 120_000)

describe('an example', () => {
  it('embeds the chat in a server of node:http, whose own pages know who is signed in', async () => {
    const host = start('embed-node.ts')
    const url = await host.printed(/http:\/\/[\d.:]+/)
    expect(await ask(`${url}/nothing`)).toEqual([404, 'The host has no such page.\n'])
    expect(await ask(`${url}/hello`)).toEqual([401, 'Sign in first.\n'])
    expect(await ask(`${url}/chat/healthz`)).toEqual([200, '{"status":"ok"}'])
    expect((await ask(`${url}/chatter`))[0]).toBe(404)

    const login = await fetch(`${url}/chat/api/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'ada@example.org', password: PASSWORD }),
    })
    const cookie = login.headers.getSetCookie().join('; ')
    expect(await ask(`${url}/hello`, { cookie })).toEqual([200, 'Hello ada.\n'])
    expect(await host.stop()).toBe(0)
  })

  it('is a part of an h3 app, behind its middleware, and a client of it', async () => {
    const host = start('embed-h3.ts')
    const url = await host.printed(/http:\/\/[\d.:]+/)
    expect(await ask(`${url}/`)).toEqual([200, 'Hello from the host.\n'])
    // As the client finds it: a service that nobody has set up.
    const client = start('client.ts', `${url}/chat`)
    expect(await client.end).toBe(0)
    expect(client.output()).toBe('Signed in as ada.\nloaded:  Does it run?\narrived: It runs.\n')
    expect(host.output()).toContain('\nPOST /chat/api/auth/login\n')
    expect(await host.stop()).toBe(0)
  })

  it('ends its streams when its host ends', async () => {
    const host = start('embed-node.ts')
    const base_url = `${await host.printed(/http:\/\/[\d.:]+/)}/chat`
    const ada = createChatClient({ base_url })
    await ada.auth.login({ email: 'ada@example.org', password: PASSWORD })
    const { conversation_id } = await ada.conversations.create()
    const seen: string[] = []
    for await (const { event } of ada.events.follow(conversation_id)) {
      seen.push(event.type === 'stream.closed' ? event.payload.reason : event.type)
      if (event.type === 'stream.ready') expect(await host.stop()).toBe(0)
      if (event.type === 'stream.closed') break
    }
    expect(seen).toEqual(['stream.ready', 'draining'])
  })

  it('follows a conversation without HTTP, goes away, and misses nothing', async () => {
    const follow = start('follow.ts')
    expect(await follow.end).toBe(0)
    expect(follow.output().trimEnd().split('\n')).toEqual([
      'Grace finds 0 threads.',
      '  ready, resumed: true',
      '  new message: first',
      'Grace goes away.',
      'Grace comes back.',
      '  ready, resumed: true',
      '  new message: second',
      '  new message: third',
    ])
  })

  it('serves a page and the chat it talks to', async () => {
    const host = start('browser/server.ts')
    const url = await host.printed(/http:\S+/)
    const [status, page] = await ask(url)
    expect(status).toBe(200)
    expect(page).toContain('<title>Chat</title>')
    expect((await ask(new URL('/elsewhere', url).href))[0]).toBe(404)
    expect(await host.stop()).toBe(0)
  })
})

describe.skipIf(!hasBrowser)('the page of the browser example', () => {
  it('signs in, loads, and shows what others and the assistant write as they write it', async () => {
    const host = start('browser/server.ts')
    const url = await host.printed(/http:\S+/)
    const { ada, grace, problems } = await openTwice(url)

    await ada.click('li button')
    await ada.fill('li form:not([hidden]) input', 'It runs, <b>surely</b>.')
    await ada.click('li form:not([hidden]) button')
    await grace.waitForSelector('text=It runs, <b>surely</b>.')
    await grace.fill('#new-thread input', 'Another one.')
    await grace.click('#new-thread button')
    await ada.waitForSelector('text=Another one.')
    expect(await ada.locator('.text').allTextContents()).toEqual([
      'Another one.',
      'Does it run?',
      'It runs, <b>surely</b>.',
    ])
    await ada.waitForSelector('#people .online:nth-child(2)')
    expect(await ada.locator('#people .online').allTextContents()).toEqual(['Ada Lovelace', 'Grace Hopper'])

    const question = Array.from({ length: 200 }, (_, index) => `word-${index}`).join(' ')
    await ada.fill('#new-thread input', question)
    await ada.click('#new-thread [value=assistant]')
    // What was written before she opened the page, and what is written after, once each.
    await grace.reload()
    await grace.waitForSelector('.text:text("word-99")')
    const [begun] = await grace.locator('.text').allTextContents()
    expect(question.startsWith(begun!.trimEnd())).toBe(true)
    await grace.waitForSelector('body:not(:has(.streaming))')
    expect((await grace.locator('.prompt').allTextContents())[0]).toBe(`Ada Lovelace asked: ${question}`)
    expect((await grace.locator('.text').allTextContents())[0]).toBe(question)

    await ada.fill('#new-thread input', `${question}.`)
    // The finger is on the button before it is there: the echo takes two seconds, and a busy machine as long to aim.
    await Promise.all([ada.click('.stop:visible'), ada.click('#new-thread [value=assistant]')])
    await grace.waitForSelector('.status:text("cancelled")')
    const [stopped] = await grace.locator('.text').allTextContents()
    expect(question.startsWith(stopped!.trimEnd())).toBe(true)
    await ada.waitForSelector('body:not(:has(.streaming))')
    expect((await ada.locator('.text').allTextContents())[0]).toBe(stopped)

    await ada.click('#sign-out')
    await ada.waitForSelector('#sign-in')
    await host.stop()
    await grace.waitForSelector('text=reconnecting')
    expect(problems).toEqual([])
  }, 60_000)
})

describe('the documentation', () => {
  const pages = ['README.md', ...filesBelow('docs').filter((path) => path.endsWith('.md'))]
  const textOf = (page: string) => readFileSync(join(ROOT, page), 'utf8')

  it('shows code that compiles', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'chat-docs-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    // Pages for contributors show the inside, which nobody else can import.
    for (const page of pages.filter((path) => !path.includes('contributing'))) {
      const blocks = [...textOf(page).matchAll(/^```ts\n(.*?)^```/gms)].map(([, code]) => code!)
      const name = page.replaceAll(sep, '-')
      await Promise.all(blocks.map((code, index) => writeFile(join(folder, `${name}-${index}.ts`), toModule(code))))
    }
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(TSCONFIG))
    expect(await compile(folder)).toBe('')
  }, 120_000)

  it('has no link that leads nowhere', () => {
    const links = pages.flatMap((page) =>
      [...textOf(page).matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)].map(([, path, anchor]) => {
        const target = path ? join(dirname(page), path) : page
        const leads = existsSync(join(ROOT, target)) && (!anchor || anchorsOf(textOf(target)).includes(anchor))
        return { page, link: `${path}${anchor ? `#${anchor}` : ''}`, leads }
      }),
    )
    expect(links.filter(({ leads }) => !leads)).toEqual([])
    expect(links.length).toBeGreaterThan(20)
  })
})

/** What the code of a page may take for granted. */
const GIVEN = `
declare const chat: import('chat-server').Chat
declare const actor: import('chat-server').Actor
declare const client: import('chat-server/client').ChatClient
declare const conversation_id: string
`

const TSCONFIG = {
  extends: join(ROOT, 'tsconfig.json'),
  compilerOptions: {
    noEmit: true,
    rootDir: '.',
    paths: {
      'chat-server': [join(ROOT, 'dist/lib/index.d.ts')],
      'chat-server/h3': [join(ROOT, 'dist/lib/http/index.d.ts')],
      'chat-server/client': [join(ROOT, 'dist/lib/client/index.d.ts')],
    },
  },
  include: ['*.ts'],
}

/** A block as a module of its own: what it declares hides what is given. */
function toModule(code: string): string {
  const isImport = (line: string) => line.startsWith('import ')
  const [imports, rest] = [isImport, (line: string) => !isImport(line)].map((keep) => code.split('\n').filter(keep))
  return [...imports!, GIVEN, 'export async function run() {', ...rest!, '}'].join('\n')
}

/** @returns what the compiler complains of */
async function compile(folder: string): Promise<string> {
  const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
  const run = promisify(execFile)(process.execPath, [compiler, '-p', folder], { cwd: ROOT })
  const { stdout } = await run.catch((error: { stdout: string }) => error)
  return stdout
}

/** The anchors of a page's headings, as GitHub makes them. */
function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, title]) =>
    title!
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

async function ask(url: string, headers: Record<string, string> = {}): Promise<[status: number, body: string]> {
  const response = await fetch(url, { headers })
  return [response.status, await response.text()]
}

function filesBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path))
}

function modifiedAt(path: string): number {
  return statSync(join(ROOT, path), { throwIfNoEntry: false })?.mtimeMs ?? 0
}

/** The page as Ada and as Grace see it, signed in. */
async function openTwice(url: string): Promise<{ ada: Page; grace: Page; problems: Error[] }> {
  const browser = await openBrowser()
  const problems: Error[] = []
  async function open(email: string): Promise<Page> {
    const page = await (await browser.newContext()).newPage()
    page.on('pageerror', (error) => problems.push(error))
    await page.goto(url)
    await page.fill('#sign-in [name=email]', email)
    await page.click('#sign-in button')
    await page.waitForSelector('#state.online')
    return page
  }
  const [ada, grace] = await Promise.all([open('ada@example.org'), open('grace@example.org')])
  return { ada, grace, problems }
}
