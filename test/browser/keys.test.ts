import { describe, expect, it } from 'vitest'
import { hasBrowser } from '../support/browser.ts'
import { look, lookInModes } from './looks.ts'
import { openStage } from './people.ts'
import { openTalk } from './talk.ts'

const BOX = '.conversation .composer textarea'
const TIMEOUT = { timeout: 30_000 }

/** A browser that asks its user when it is clicked: a real one of a test has been told already. */
const ASKING = `(() => {
  let permission = 'default'
  globalThis.Notification = class {
    static get permission() { return permission }
    static requestPermission() { permission = 'granted'; globalThis.asked = true; return Promise.resolve(permission) }
  }
})()`

async function openRooms() {
  const stage = await openStage({})
  const talk = await openTalk(stage.url)
  const { ada, grace } = talk
  for (const title of ['Wheels', 'Steam']) {
    const { conversation_id } = await ada.conversations.create({ title })
    const { token = '' } = await ada.invites.create(conversation_id, {})
    await grace.invites.accept({ token })
    if (title === 'Wheels') await grace.messages.postRoot(conversation_id, { content: 'Do they turn?' })
    await ada.messages.postRoot(conversation_id, { content: `Of ${title}` })
    if (title === 'Wheels') await grace.messages.postRoot(conversation_id, { content: 'And now?' })
  }
  await ada.messages.postRoot(talk.conversation_id, { content: 'Of Engines' })
  const { page } = await stage.visit(stage.url)
  await page.addInitScript(ASKING)
  await talk.signIn(page, 'ada')
  await page.waitForSelector('.conversations a:has-text("Steam")')
  return { ...stage, ...talk, page }
}

describe.skipIf(!hasBrowser)('the keys of the web chat', () => {
  it('are in a sheet, go from conversation to conversation, and those of a single sign can be turned off', async () => {
    const { page, url, conversation_id, problems } = await openRooms()
    await page.goto(`${url}/#/c/${conversation_id}`)
    await page.waitForSelector('.conversation h2:text-is("Engines")')
    await page.press(BOX, 'Alt+ArrowDown')
    await page.waitForSelector('.conversation h2:text-is("Steam")')
    await page.press(BOX, 'Alt+ArrowUp')
    await page.waitForSelector('.conversation h2:text-is("Engines")')
    await page.press(BOX, 'Alt+Shift+ArrowDown')
    await page.waitForSelector('.conversation h2:text-is("Wheels")')
    // Also what a section hides.
    await page.press('.section-head:has-text("Rooms") [aria-expanded]', 'Enter')
    await page.waitForSelector('.conversations a', { state: 'detached' })
    await page.press(BOX, 'Alt+ArrowUp')
    await page.waitForSelector('.conversation h2:text-is("Steam")')
    await page.press('.section-head:has-text("Rooms") [aria-expanded]', 'Enter')
    await page.waitForSelector('.conversations a[aria-current=page]:has-text("Steam")')

    await page.press(BOX, '?')
    expect(await page.inputValue(BOX)).toBe('?')
    await page.press(BOX, 'Control+/')
    await page.waitForSelector(
      'dialog .key-sheet div:has-text("Next unread room or person") kbd:text-is("Alt Shift ↓")',
    )
    await look(page, 'keys')
    await lookInModes(page, 'keys')
    await page.press('dialog', 'Escape')
    await page.waitForSelector('dialog', { state: 'detached' })
    await page.press('#conversation-title', '?')
    await page.waitForSelector('dialog .key-sheet')
    await page.press('dialog', 'Escape')
    await page.waitForSelector('dialog', { state: 'detached' })

    await page.goto(`${url}/#/account/preferences`)
    await page.selectOption('.sheet .field:has-text("Single-letter") select', 'off')
    await page.press('#settings-title', '?')
    await page.press('#settings-title', 'Control+/')
    await page.waitForSelector('dialog .key-sheet')
    expect(await page.locator('dialog').allTextContents()).toHaveLength(1)
    expect(problems).toEqual([])
  })

  it('are what the user prefers: Enter begins a line, and Shift Enter sends; rows are closer', async () => {
    const { page, url, conversation_id, problems } = await openRooms()
    await page.goto(`${url}/#/account/preferences`)
    await page.selectOption('.sheet select:has(option[value=line])', 'line')
    await page.selectOption('.sheet select:has(option[value=compact])', 'compact')
    await page.reload()
    await page.waitForSelector('html[data-density=compact]')
    await look(page, 'preferences')
    await page.goto(`${url}/#/c/${conversation_id}`)
    await page.fill(BOX, 'one')
    await page.press(BOX, 'Enter')
    await expect.poll(() => page.inputValue(BOX), TIMEOUT).toBe('one\n')
    await page.press(BOX, 'Shift+Enter')
    await page.waitForSelector('.message:not([data-pending]):has-text("one")')
    await look(page, 'compact')
    expect(problems).toEqual([])
  })

  it('are asked for notifications after a click only, which is offered once, after the first post', async () => {
    const { page, url, conversation_id, problems } = await openRooms()
    await page.reload()
    await page.goto(`${url}/#/c/${conversation_id}`)
    await page.fill(BOX, 'Hello')
    await page.press(BOX, 'Enter')
    await page.waitForSelector('.update:has-text("Get notified of replies")')
    await look(page, 'alerts-offer')
    expect(await page.evaluate('globalThis.asked')).toBe(undefined)
    await page.press('.update button:text-is("Not now")', 'Enter')
    await page.waitForSelector('.update', { state: 'detached' })
    await page.fill(BOX, 'Again')
    await page.press(BOX, 'Enter')
    await page.waitForSelector('.message:not([data-pending]):has-text("Again")')
    expect(await page.locator('.update').allTextContents()).toEqual([])
    expect(await page.evaluate('globalThis.asked')).toBe(undefined)
    await page.evaluate(`localStorage.removeItem('chat:alerts-offered')`)
    await page.fill(BOX, 'Once more')
    await page.press(BOX, 'Enter')
    await page.press('.update button:text-is("Notify me on this device")', 'Enter')
    await expect.poll(() => page.evaluate('globalThis.asked'), TIMEOUT).toBe(true)
    await page.waitForSelector('.update', { state: 'detached' })
    expect(problems).toEqual([])
  })

  it('walk through all rooms of a long list, of which only a part is read and rendered', async () => {
    const { url, visit, problems } = await openStage({})
    const { ada, signIn, conversation_id } = await openTalk(url)
    for (let n = 0; n < 130; n++) await ada.conversations.create({ title: `Room ${n}` })
    const { page } = await visit(url)
    await signIn(page, 'ada')
    await page.goto(`${url}/#/c/${conversation_id}`)
    await page.waitForSelector('.conversation h2:text-is("Engines")')
    // The oldest is not listed yet: the first one is next.
    await page.press(BOX, 'Alt+ArrowDown')
    for (let n = 129; n >= 0; n--) {
      await page.waitForSelector(`.conversation h2:text-is("Room ${n}")`)
      await page.press(BOX, 'Alt+ArrowDown')
    }
    await page.waitForSelector('.conversation h2:text-is("Engines")')
    await page.waitForSelector('.conversations a[aria-current=page]:has-text("Engines")')
    await page.press(BOX, 'Alt+ArrowUp')
    await page.waitForSelector('.conversation h2:text-is("Room 0")')
    expect(problems).toEqual([])
  }, 240_000)

  it('of a composition send nothing, also where a browser reports its end first', async () => {
    const { page, url, conversation_id, problems } = await openRooms()
    await page.goto(`${url}/#/c/${conversation_id}`)
    await page.fill(BOX, 'ねこ')
    const isTaken = await page.evaluate(`(() => {
      const options = { key: 'Enter', keyCode: 229, bubbles: true, cancelable: true }
      return !document.querySelector('${BOX}').dispatchEvent(new KeyboardEvent('keydown', options))
    })()`)
    expect([isTaken, await page.inputValue(BOX)]).toEqual([false, 'ねこ'])
    await page.press(BOX, 'Enter')
    await page.waitForSelector('.message:has-text("ねこ")')
    expect(problems).toEqual([])
  })

  it('mark everything as read in any number of rooms, also from the box, and so does the button of the inbox', async () => {
    const { url, visit, problems } = await openStage({})
    const { ada, grace, signIn, conversation_id: engines } = await openTalk(url)
    const { id: user_id, username } = (await ada.auth.me()).user
    const rooms: string[] = []
    for (let n = 0; n < 60; n++) {
      const { conversation_id } = await grace.conversations.create({ title: `Room ${n}`, layout: 'stream' })
      await grace.participants.add(conversation_id, { user_id })
      rooms.push(conversation_id)
    }
    const postToAll = (content: string) => Promise.all(rooms.map((room) => grace.messages.postRoot(room, { content })))
    await postToAll(`Hello @${username}`)
    const { page } = await visit(url)
    await signIn(page, 'ada')
    const unread = async () => (await page.locator('.conversations a[data-unread=true]').allTextContents()).length
    await expect.poll(unread).toBeGreaterThan(40)
    await page.waitForSelector('.inbox-button .badge')
    await page.goto(`${url}/#/c/${engines}`)
    await page.press(BOX, 'Shift+Escape')
    await expect.poll(unread).toBe(0)
    await page.waitForSelector('.inbox-button .badge', { state: 'detached' })
    expect((await ada.conversations.list({ unread: 'true' })).conversations).toEqual([])

    await postToAll('Later')
    await expect.poll(unread).toBeGreaterThan(40)
    await page.click('.inbox-button')
    await page.click('button:text("Mark all read")')
    await expect.poll(unread).toBe(0)
    await page.waitForSelector('button:text("Mark all read")', { state: 'detached' })
    expect((await ada.conversations.list({ unread: 'true' })).conversations).toEqual([])
    expect(problems).toEqual([])
  }, 120_000)
})
