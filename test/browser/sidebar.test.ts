import { describe, expect, it } from 'vitest'
import { hasBrowser, type Page } from '../support/browser.ts'
import { look, lookInModes } from './looks.ts'
import { openStage, type Stage, signInAsAda } from './people.ts'

const TIMEOUT = { timeout: 60_000 }

/** The heads and the names of the list, as they stand below each other. */
const listed = (page: Page): Promise<unknown> =>
  page.evaluate(
    `[...document.querySelectorAll('.conversations .section-head, .conversations a .name bdi')].map((row) => row.textContent)`,
  )

/** Ada with a room, a direct conversation with Grace and a talk with the assistant. */
async function openList(stage: Stage) {
  const visitor = await signInAsAda(stage)
  const { ada, page } = visitor
  const { chat } = stage
  const { user } = await chat.users.create(ada, {
    username: 'grace',
    email: 'grace@example.org',
    display_name: 'Grace Hopper',
  })
  const grace = await chat.users.actor(user.id)
  const rooms = []
  for (const title of ['Engines', 'Weaving']) {
    const { conversation_id } = await chat.conversations.create(ada, {
      title,
      ...(title === 'Weaving' && { icon: '🧵' }),
    })
    await chat.participants.add(ada, conversation_id, { user_id: grace.user_id })
    rooms.push(conversation_id)
  }
  const { conversation } = await chat.conversations.direct(ada, { user_id: grace.user_id })
  await chat.conversations.create(ada, { title: 'Sums', layout: 'assistant' })
  await page.waitForSelector('.conversations a:has-text("Sums")')
  return { ...visitor, grace, engines: rooms[0]!, weaving: rooms[1]!, direct: conversation.id }
}

describe.skipIf(!hasBrowser)('the sidebar', () => {
  it('has sections, and numbers only for what waits for the user', async () => {
    const stage = await openStage({})
    const { page, ada, grace, engines, weaving, direct } = await openList(stage)
    const { chat } = stage
    expect(await listed(page)).toEqual([
      'Rooms',
      'Weaving',
      'Engines',
      'Direct messages',
      'Grace Hopper',
      'Assistant',
      'Sums',
    ])
    await chat.messages.postRoot(grace, engines, { content: 'Is it **fast**, @ada?' })
    await chat.messages.postRoot(grace, weaving, { content: 'Red or blue?' })
    for (const content of ['Hello', 'Are you there?']) await chat.messages.postRoot(grace, direct, { content })
    await page.waitForSelector('.conversations a:has-text("Engines") .badge:has-text("1 for you")')
    await page.waitForSelector('.conversations a:has-text("Grace Hopper") .badge:has-text("2 unread messages")')
    await page.waitForSelector('.conversations a:has-text("Engines") .preview bdi:text-is("Is it fast, @ada?")')
    await page.waitForSelector('.conversations a[data-unread=true]:has-text("Weaving")')
    expect(await page.locator('.conversations a:has-text("Weaving") .badge').allTextContents()).toEqual([])
    await expect.poll(() => page.title(), TIMEOUT).toBe('(2) Chat')
    await look(page, 'sidebar')
    await lookInModes(page, 'sidebar')
    await page.evaluate(`document.documentElement.dir = 'rtl'`)
    await look(page, 'sidebar-rtl')
    await page.evaluate(`document.documentElement.dir = 'ltr'`)

    await chat.conversations.setSettings(ada, weaving, { muted_until: 'forever' })
    await page.waitForSelector('.conversations a[data-muted=true][data-unread=false]:has-text("Weaving")')

    await page.press('.section-head:has-text("Rooms") [aria-expanded]', 'Enter')
    expect(await listed(page)).toEqual(['Rooms', 'Direct messages', 'Grace Hopper', 'Assistant', 'Sums'])
    await page.reload()
    await page.waitForSelector('.conversations a:has-text("Sums")')
    expect(await listed(page)).toEqual(['Rooms', 'Direct messages', 'Grace Hopper', 'Assistant', 'Sums'])
    expect(stage.problems).toEqual([])
  })

  it('has a button for a first room, person and talk with the assistant', async () => {
    const stage = await openStage({}, { assistant: { provider: 'echo' } })
    const { page } = await signInAsAda(stage)
    await page.waitForSelector('.conversations .empty h2')
    expect(await listed(page)).toEqual(['Rooms', 'Direct messages', 'Assistant'])
    for (const label of ['New room', 'New direct message'])
      await page.waitForSelector(`.section-head [aria-label="${label}"]`)
    await look(page, 'sidebar-empty')
    await page.press('.section-head:has-text("Assistant") .icon-button', 'Enter')
    await page.fill('dialog [name=title]', 'Sums')
    await page.press('dialog [name=title]', 'Enter')
    await page.waitForSelector('.conversations a:has-text("Sums")')
    expect(await listed(page)).toEqual(['Rooms', 'Direct messages', 'Assistant', 'Sums'])
    expect(stage.problems).toEqual([])
  })

  it('has a menu at each row, by keys: read, mute, favourite, archive and leave', async () => {
    const stage = await openStage({})
    const { page, ada, grace, engines } = await openList(stage)
    const { chat } = stage
    await chat.messages.postRoot(grace, engines, { content: 'Is it fast?' })
    const row = '.conversations [data-row]:has-text("Engines")'
    await page.waitForSelector(`${row} a[data-unread=true]`)
    const choose = async (entry: string) => {
      await page.press(`${row} a`, 'Shift')
      await page.press(`${row} .row-menu button`, 'Enter')
      await page.press(`${row} .panel button:text-is("${entry}")`, 'Enter')
    }
    await choose('Mark read')
    await page.waitForSelector(`${row} a[data-unread=false]`)
    await choose('Mute')
    await look(page, 'row-mute')
    await page.press(`${row} .panel button:text-is("8 hours")`, 'Enter')
    await page.waitForSelector(`${row} a[data-muted=true]`)
    const { muted_until = '' } = await chat.conversations.settings(ada, engines)
    expect(Date.parse(muted_until) - Date.now()).toBeGreaterThan(7 * 3_600_000)
    await choose('Unmute')
    await page.waitForSelector(`${row} a[data-muted=false]`)
    await choose('Add to favourites')
    await expect
      .poll(() => listed(page), TIMEOUT)
      .toEqual(['Favourites', 'Engines', 'Rooms', 'Weaving', 'Direct messages', 'Grace Hopper', 'Assistant', 'Sums'])
    await choose('Leave')
    await page.waitForSelector('dialog [role=alert], dialog .danger')
    await page.press('dialog', 'Escape')
    await choose('Archive')
    await page.waitForSelector(row, { state: 'detached' })
    await page.press('.archive', 'Enter')
    await page.waitForSelector(`.archived ${row}`)
    await page.waitForSelector('.archive[aria-expanded=true]')
    await look(page, 'sidebar-archived')
    expect(stage.problems).toEqual([])
  })

  it('is one stop of Tab, in which arrows walk, to the menu of a row and the button of a section, too', async () => {
    const stage = await openStage({})
    const { page, engines, url } = { ...(await openList(stage)), url: stage.url }
    const focused = () =>
      page.evaluate(`(({ activeElement: at }) => at.closest('.panel') ? at.textContent
        : at.ariaLabel ?? at.querySelector('.name bdi')?.textContent ?? at.textContent)(document)`)
    const press = (key: string) => page.press(':focus', key)
    await page.goto(`${url}/#/c/${engines}`)
    await page.waitForSelector('.conversations a[aria-current=page]')
    await page.press('.sidebar a[href="#/threads"]', 'Tab')
    expect(await focused()).toBe('Engines')
    for (const [key, name] of [
      ['ArrowUp', 'Weaving'],
      ['k', 'Rooms'],
      ['ArrowRight', 'New room'],
      ['ArrowDown', 'Weaving'],
      ['End', 'Sums'],
      ['Home', 'Rooms'],
      ['j', 'Weaving'],
    ] as const) {
      await press(key)
      await expect.poll(focused, TIMEOUT).toBe(name)
    }
    await page.waitForSelector('.conversations [data-row]:has-text("Weaving") .row-menu button')
    await press('ArrowRight')
    expect(await focused()).toBe('More')
    await press('Enter')
    await expect.poll(focused, TIMEOUT).toBe('Mute')
    await press('Tab')
    expect(await focused()).toBe('Add to favourites')
    await press('Escape')
    expect(await focused()).toBe('More')
    await press('ArrowLeft')
    expect(await focused()).toBe('Weaving')
    await press('Tab')
    expect(await page.evaluate(`document.activeElement.closest('.conversations')`)).toBe(null)
    await press('Shift+Tab')
    expect(await focused()).toBe('Weaving')
    await press('Enter')
    await page.waitForSelector('.conversation h2:text-is("Weaving")')
    expect(stage.problems).toEqual([])
  })

  it('leaves the rows where they are while the pointer is there', async () => {
    const stage = await openStage({})
    const { page, grace, engines } = await openList(stage)
    await page.hover('.conversations a:has-text("Weaving")')
    await stage.chat.messages.postRoot(grace, engines, { content: 'Is it fast?' })
    await page.waitForSelector('.conversations a[data-unread=true]:has-text("Engines")')
    expect(((await listed(page)) as string[]).slice(0, 3)).toEqual(['Rooms', 'Weaving', 'Engines'])
    await page.hover('.brand')
    await expect
      .poll(async () => ((await listed(page)) as string[]).slice(0, 3), TIMEOUT)
      .toEqual(['Rooms', 'Engines', 'Weaving'])
    expect(stage.problems).toEqual([])
  })

  it('brings the row of the room that is opened into view, in a short list and in a long one', async () => {
    const stage = await openStage({})
    const { page, ada, engines, weaving } = await openList(stage)
    const create = async (count: number) => {
      for (let n = 0; n < count; n += 1) await stage.chat.conversations.create(ada, { title: `Room ${n}` })
    }
    const isInView = `(() => {
      const list = document.querySelector('.conversations').getBoundingClientRect()
      const row = document.querySelector('.conversations [aria-current=page]')?.getBoundingClientRect()
      return row !== undefined && row.top >= list.top - 1 && row.bottom <= list.bottom + 1
    })()`
    await create(40)
    await page.goto(`${stage.url}/#/c/${engines}`)
    await page.reload()
    await page.waitForSelector('.conversation h2:text-is("Engines")')
    await expect.poll(() => page.evaluate(isInView), TIMEOUT).toBe(true)
    await create(100)
    // The open room stays in view as rows come above it: the newest may not be rendered until then.
    const toTop = `document.querySelector('.conversations').scrollTop = 0`
    await expect
      .poll(async () => {
        await page.evaluate(toTop)
        return listed(page)
      }, TIMEOUT)
      .toContain('Room 99')
    const toEnd = `document.querySelector('.conversations').scrollTop = 1e9`
    // All pages are read; at its top, only the first rows of the list are rendered.
    await expect
      .poll(async () => {
        await page.evaluate(toEnd)
        return listed(page)
      }, TIMEOUT)
      .toContain('Sums')
    await page.evaluate(toTop)
    await page.waitForSelector('.conversations a:has-text("Weaving")', { state: 'detached' })
    await page.goto(`${stage.url}/#/c/${weaving}`)
    await page.waitForSelector('.conversation h2:text-is("Weaving")')
    await expect.poll(() => page.evaluate(isInView), TIMEOUT).toBe(true)
    expect(stage.problems).toEqual([])
  })

  it('is as wide as the user wants, within bounds, and stays so', async () => {
    const stage = await openStage({})
    const { page } = await openList(stage)
    const width = () => page.evaluate(`Math.round(document.querySelector('.sidebar').getBoundingClientRect().width)`)
    expect(await width()).toBe(280)
    for (const _ of Array(12)) await page.press('.sidebar-edge', 'ArrowRight')
    expect(await width()).toBe(480)
    await page.press('.sidebar-edge', 'ArrowLeft')
    await page.reload()
    await page.waitForSelector('.sidebar-edge[aria-valuenow="460"]')
    expect(await width()).toBe(460)
    for (const _ of Array(20)) await page.press('.sidebar-edge', 'ArrowLeft')
    expect(await width()).toBe(200)
    await look(page, 'sidebar-narrow')
    expect(stage.problems).toEqual([])
  })
})
