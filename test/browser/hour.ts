import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { expect } from 'vitest'
import { type ChatClient, createChatClient } from '../../lib/client/index.ts'
import { folder, start } from '../cli/process.ts'
import { createRandom } from '../fault/random.ts'
import { type BrowserContext, openBrowser, type Page } from '../support/browser.ts'
import { PASSWORD, write } from './people.ts'
import { shown, weigh } from './weigh.ts'

/** What each of an hour's people may be called. */
const NAMES = ['ada', 'grace', 'linus', 'noor', 'tim'] as const
const ENV = {
  CHAT_SECURITY__PASSWORD__BCRYPT_COST: '4',
  CHAT_DATABASE__URL: 'sqlite:chat.db',
  CHAT_ASSISTANT__PROVIDER: 'echo',
  // The people type faster than any.
  CHAT_RATE_LIMITS__DEFAULT_RPS: '1000',
  CHAT_RATE_LIMITS__BURST: '10000',
}
const PATIENT = { timeout: 60_000 }
/** What a browser reports where a request fails as it must: without a session, a network or a service. */
const EXPECTED = /status of (401|403|404|409|422|503)|net::ERR_|Failed to fetch/

/** A user at a browser, who also acts from another device. */
interface PersonAtPage {
  name: string
  client: ChatClient
  user_id: string
  context: BrowserContext
  page: Page
  isOffline: boolean
}

/** What is on the screen of a person, and what the service says of it. */
interface Screen {
  rooms: string[]
  rows: string[]
}

/** An hour of a few people in a few rooms: acts that follow from a seed, and what must then be on each screen. */
export interface Hour {
  /** Acts a number of times, by one person each. */
  act(times: number): Promise<void>
  /** Waits until each screen shows what the service reads to its user. */
  settle(): Promise<void>
  /** Each text that was posted, which must be there once. */
  posted: readonly string[]
  /** All texts of the rooms, as the service reads them. */
  read(): Promise<string[]>
  /** The heap of the pages in bytes, with the account in view, and their nodes in the rooms: the largest of each. */
  weigh(): Promise<{ heap: number; nodes: number }>
  problems: string[]
}

/** Starts a service in a process of its own, and its people, each in a browser context, who share two rooms. */
export async function beginHour(seed: number, count: number): Promise<Hour> {
  const random = createRandom(seed)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!
  const cwd = folder()
  let { child, url } = await serve(cwd, '0')
  const { port } = new URL(url)
  const browser = await openBrowser()
  const problems: string[] = []
  const posted: string[] = []
  let texts = 0

  const watch = (page: Page, name: string) => {
    page.on('pageerror', (error) => problems.push(`${name}: ${error.message}`))
    page.on('console', (message) => {
      if (message.type() === 'error' && !EXPECTED.test(message.text())) problems.push(`${name}: ${message.text()}`)
    })
  }
  const admin = createChatClient({ base_url: url })
  await admin.setup.run({ email: 'ada@example.org', password: PASSWORD, display_name: 'Ada Lovelace' })
  await admin.auth.login({ email: 'ada@example.org', password: PASSWORD })
  const rooms = await Promise.all(
    ['Engines', 'Tea'].map(async (title) => (await admin.conversations.create({ title })).conversation_id),
  )
  const people: PersonAtPage[] = []
  for (const name of NAMES.slice(0, count)) {
    const email = `${name}@example.org`
    const client = name === 'ada' ? admin : createChatClient({ base_url: url })
    for (const [index, room] of name === 'ada' ? [] : rooms.entries()) {
      const { token = '' } = await admin.invites.create(room, {})
      if (index === 0) await client.invites.accept({ token, username: name, email, password: PASSWORD })
      else await client.invites.accept({ token })
    }
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: 'en-GB' })
    const page = await context.newPage()
    watch(page, name)
    await page.goto(url)
    await page.fill('[name=email]', email)
    await page.fill('[name=password]', PASSWORD)
    await page.press('[name=password]', 'Enter')
    await shown(page, '.sidebar')
    const { user } = await client.auth.me()
    people.push({ name, client, user_id: user.id, context, page, isOffline: false })
    await open(people.at(-1)!, rooms[0]!)
  }

  async function open({ page }: PersonAtPage, room: string): Promise<void> {
    await page.goto(`${url}/#/c/${room}`)
    await shown(page, '.stream[data-open=true]')
  }
  const roomOf = ({ page }: PersonAtPage) => /#\/c\/([^/]+)/.exec(page.url())?.[1] ?? rooms[0]!
  const textOf = (person: PersonAtPage, kind: string) => {
    const text = `${person.name} ${kind} ${++texts}`
    posted.push(text)
    return text
  }
  const post = (person: PersonAtPage, kind = 'says') => write(person.page, 'conversation', textOf(person, kind))
  const newest = async (person: PersonAtPage, isWanted: (message: OfRoom) => boolean) =>
    (await person.client.messages.list(roomOf(person), { limit: 30 })).messages.findLast(isWanted)
  const isLive = ({ deleted_at, status }: OfRoom) => deleted_at === undefined && status !== 'streaming'
  const isOwn = (person: PersonAtPage) => (message: OfRoom) =>
    isLive(message) && message.role === 'user' && message.author_user_id === person.user_id

  const acts: Record<string, (person: PersonAtPage) => Promise<void>> = {
    post,
    again: async (person) => {
      for (const kind of ['first', 'second', 'third']) await post(person, kind)
    },
    thread: async (person) => {
      const root = await newest(person, isLive)
      if (!root) return post(person)
      await person.page.goto(`${url}/#/c/${roomOf(person)}/t/${root.id}`)
      // The box of the thread that was open before would take the text.
      await shown(person.page, `.thread [data-message-id="${root.id}"]`)
      await write(person.page, 'thread', textOf(person, 'replies'))
    },
    edit: async (person) => {
      const message = await newest(person, isOwn(person))
      if (!message) return post(person)
      const content = textOf(person, 'corrects')
      await person.client.messages.edit(message.id, { content })
      posted.splice(posted.indexOf(message.content), 1)
    },
    delete: async (person) => {
      const message = await newest(person, isOwn(person))
      if (!message || message.thread?.reply_count) return post(person)
      await person.client.messages.remove(message.id)
      posted.splice(posted.indexOf(message.content), 1)
    },
    react: async (person) => {
      const message = await newest(person, isLive)
      if (message) await person.client.reactions.add(message.id, pick(['👍', '🎉', '❤️']))
    },
    ask: async ({ client, ...person }) => {
      await client.messages.postRoot(roomOf({ client, ...person }), { role: 'assistant', content: 'What runs?' })
    },
    file: async (person) => {
      const { page } = person
      // `setInputFiles` would keep the field, and all around it, until the page is closed.
      await page.evaluate(`(() => {
        const data = new DataTransfer()
        data.items.add(new File(['A file of ${person.name}'], 'notes.txt', { type: 'text/plain' }))
        const field = document.querySelector('.conversation .composer input[type=file]')
        field.files = data.files
        field.dispatchEvent(new Event('change', { bubbles: true }))
      })()`)
      const text = textOf(person, 'attaches')
      await page.fill('.conversation .composer textarea', text)
      await page.click('.conversation .composer .send:not([disabled])')
      // It is posted once the file is uploaded: until then, what the person does next would take it back.
      await shown(page, `.conversation .message:has-text("${text}")`)
    },
    move: (person) => open(person, pick(rooms)),
    reload: async (person) => {
      await person.page.reload()
      await shown(person.page, '.sidebar')
    },
    tab: async (person) => {
      const other = await person.context.newPage()
      watch(other, `${person.name}'s second tab`)
      await other.goto(person.page.url())
      await shown(other, '.conversation .composer textarea')
      const text = textOf(person, 'says elsewhere')
      await write(other, 'conversation', text)
      await shown(other, `.message:not([data-pending]):has-text("${text}")`)
      await other.close()
    },
    offline: async (person) => {
      await person.context.setOffline(true)
      person.isOffline = true
      await post(person, 'says offline')
    },
    remove: async (person) => {
      if (person.name === 'ada') return post(person)
      await admin.participants.remove(rooms[1]!, person.user_id)
      await admin.participants.add(rooms[1]!, { username: person.name })
    },
    kill: async () => {
      const gone = once(child, 'exit')
      child.kill('SIGKILL')
      await gone
      ;({ child } = await serve(cwd, port))
    },
  }
  const often = ['post', 'post', 'post', 'again', 'thread', 'thread', 'edit', 'react', 'move', 'ask', 'delete', 'file']
  const seldom = ['reload', 'tab', 'offline', 'remove', 'kill']

  /** Back to the network, with the box of a room in view: whatever the last act was. */
  async function ready(person: PersonAtPage): Promise<void> {
    if (person.isOffline) await person.context.setOffline(false)
    person.isOffline = false
    if (!/#\/c\//.test(person.page.url())) await open(person, rooms[0]!)
    await shown(person.page, '.conversation .composer textarea')
  }

  async function screenOf(page: Page): Promise<Screen> {
    const rooms =
      'new Set([...document.querySelectorAll(".sidebar a[href*=\'#/c/\']")].map((a) => a.hash.split("/")[2]))'
    const rows = `[...document.querySelectorAll('.conversation .row[data-message-id]')].map((row) =>
      row.dataset.messageId + ' ' + (row.querySelector('.message:not(.question) .markdown')?.textContent.trim() ?? '-'))`
    return (await page.evaluate(`({ rooms: [...${rooms}].sort(), rows: ${rows} })`)) as Screen
  }

  async function expectedOf(person: PersonAtPage, screen: Screen): Promise<Screen> {
    const { conversations } = await person.client.conversations.list({})
    const { messages } = await person.client.messages.list(roomOf(person), { limit: 30 })
    // An answer that was cut off before its first word has no text, either.
    const all = messages.map(({ id, content, deleted_at }) => `${id} ${(deleted_at ? '' : content.trim()) || '-'}`)
    // As much of its end as both have.
    const rows = all.slice(-Math.max(screen.rows.length, 1))
    return {
      rooms: conversations.map(({ id }) => id).sort(),
      rows: [...screen.rows.slice(0, Math.max(screen.rows.length - rows.length, 0)), ...rows],
    }
  }

  return {
    problems,
    posted,
    async act(times) {
      for (let at = 0; at < times; at++) {
        const person = pick(people)
        const name = random() < 0.12 ? pick(seldom) : pick(often)
        try {
          await ready(person)
          await acts[name]!(person)
          if (process.env.HOUR_LOG) console.log(name, person.name, roomOf(person).slice(0, 4))
        } catch (error) {
          throw new Error(`Act ${at}, ${name} of ${person.name}, with seed ${seed}`, { cause: error })
        }
      }
    },
    async settle() {
      for (const person of people) {
        await ready(person)
        const { page } = person
        await shown(page, '.banner[data-shown=false]', { state: 'attached' })
        await expect.poll(() => page.locator('[data-pending]').allTextContents(), PATIENT).toEqual([])
        await page.evaluate('document.querySelector(".conversation .pill[data-to=end]")?.click()')
        await expect
          .poll(async () => {
            const screen = await screenOf(page)
            const expected = await expectedOf(person, screen)
            return JSON.stringify(screen) === JSON.stringify(expected) ? 'same' : { of: person.name, screen, expected }
          }, PATIENT)
          .toBe('same')
        // What was in view is read.
        await expect
          .poll(async () => {
            const { messages } = await person.client.messages.list(roomOf(person), { limit: 30 })
            const left = messages.filter((message) => message.unread).map(({ id, content }) => ({ id, content }))
            return left.length === 0 ? 'read' : { of: person.name, left }
          }, PATIENT)
          .toBe('read')
      }
    },
    async read() {
      const found: string[] = []
      for (const room of rooms) {
        let before: string | undefined
        do {
          const page = await admin.messages.list(room, { view: 'all', limit: 200, ...(before && { before }) })
          // In a thread with the assistant, a reply is a question.
          found.push(...page.messages.map(({ content, prompt }) => prompt ?? content))
          before = page.next_before
        } while (before)
      }
      return found
    },
    async weigh() {
      const inRooms = await Promise.all(people.map(({ context, page }) => weigh(context, page)))
      // A room shows more with each minute: what is kept besides is compared on a screen that stays as it is.
      for (const { page } of people) {
        await page.goto(`${url}/#/account`)
        await shown(page, '.pane.settings')
      }
      const elsewhere = await Promise.all(people.map(({ context, page }) => weigh(context, page)))
      return {
        heap: Math.max(...elsewhere.map(({ heap }) => heap)),
        nodes: Math.max(...inRooms.map(({ nodes }) => nodes)),
      }
    },
  }
}

type OfRoom = Awaited<ReturnType<ChatClient['messages']['list']>>['messages'][number]

/** Starts `chat-server serve`. @returns the process and its address, once it listens */
async function serve(cwd: string, port: string): Promise<{ child: ChildProcess; url: string }> {
  const child = start(['serve', '--port', port], { cwd, env: ENV })
  const [greeting] = await once(child.stdout, 'data')
  child.stdout.resume()
  child.stderr.resume()
  return { child, url: /http:\/\/[^\s"]+:\d+/.exec(String(greeting))![0] }
}
