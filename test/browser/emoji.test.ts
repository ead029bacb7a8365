import { describe, expect, it } from 'vitest'
import { hasBrowser, type Page } from '../support/browser.ts'
import { look, lookInModes } from './looks.ts'
import { openStage } from './people.ts'
import { openTalk } from './talk.ts'

const BOX = '.conversation .composer textarea'
const SEARCH = '.emoji-picker input[type=search]'
const CELL = '.emoji-grid [role=option]'
const TIMEOUT = { timeout: 30_000 }

async function openRoom(options = {}) {
  const stage = await openStage({})
  const talk = await openTalk(stage.url)
  const { message } = await talk.grace.messages.postRoot(talk.conversation_id, { content: 'It runs' })
  const { page } = await stage.visit(stage.url, options)
  await talk.signIn(page, 'ada')
  await page.goto(`${stage.url}/#/c/${talk.conversation_id}`)
  await page.waitForSelector('.row:has-text("It runs")')
  return { ...stage, ...talk, page, message }
}

const expectText = (page: Page, text: string) => expect.poll(() => page.inputValue(BOX), TIMEOUT).toBe(text)

/** The emoji that has the focus. */
const focused = (page: Page) => page.evaluate('document.activeElement.getAttribute("aria-label")')

describe.skipIf(!hasBrowser)('emoji in the web chat', () => {
  it('are offered behind a colon, and a whole name becomes one, what can be undone', async () => {
    const { page, problems } = await openRoom()
    await page.press(BOX, 'G')
    await page.keyboard.type('o :s')
    expect(await page.locator('[role=option]').allTextContents()).toEqual([])
    await page.keyboard.type('hop')
    await page.waitForSelector('[role=listbox][aria-label=Emoji] [role=option][aria-selected=true]')
    await look(page, 'emoji-completion')
    await page.press(BOX, 'Escape')
    await page.waitForSelector('[role=option]', { state: 'detached' })
    await page.fill(BOX, '')
    await page.keyboard.type('Go :part')
    await page.waitForSelector('[role=option]:has-text("party popper"):has-text(":tada:")')
    while (
      (await page.locator('[role=option][aria-selected=true]').allTextContents())[0]?.includes('party popper') === false
    )
      await page.press(BOX, 'ArrowDown')
    await page.press(BOX, 'Tab')
    await expectText(page, 'Go 🎉 ')
    await page.keyboard.type('and :tada:')
    await expectText(page, 'Go 🎉 and 🎉')
    await page.press(BOX, 'Control+z')
    await expectText(page, 'Go 🎉 and :tada:')
    await page.fill(BOX, '')
    await page.keyboard.type('At 12:30 `:tada:` :no_such_thing:')
    await expectText(page, 'At 12:30 `:tada:` :no_such_thing:')
    await page.press(BOX, 'Enter')
    await page.waitForSelector('.message:not([data-pending]):has-text("At 12:30")')
    expect(problems).toEqual([])
  })

  it('are chosen by search, categories and arrows, in a tone of skin that is kept, as are the last ones', async () => {
    const { page, problems } = await openRoom()
    await page.fill(BOX, 'Well done')
    await page.press('.composer [aria-label=Emoji]', 'Enter')
    await page.waitForSelector(`${SEARCH}:focus`)
    await page.waitForSelector(CELL)
    // One stop of the Tab key.
    expect(await page.locator(`${CELL}[tabindex="0"]`).allTextContents()).toHaveLength(1)
    await lookInModes(page, 'emoji-picker')
    await look(page, 'emoji-picker')
    await page.press(SEARCH, 'ArrowDown')
    expect(await focused(page)).toBe('grinning face')
    await page.press(`${CELL}:focus`, 'ArrowRight')
    expect(await focused(page)).toBe('grinning face with big eyes')
    await page.press(`${CELL}:focus`, 'End')
    expect(await focused(page)).toBe('ZZZ')
    await page.press(`${CELL}:focus`, 'Home')
    await page.press(`${CELL}:focus`, 'ArrowUp')
    await page.waitForSelector(`${SEARCH}:focus`)

    await page.press('[role=radiogroup][aria-label="Skin tone"] [aria-label=Default]', 'ArrowRight')
    await page.press('[role=radiogroup][aria-label=Categories] :checked', 'ArrowRight')
    await page.waitForSelector(`${CELL}:text-is("👋🏻")`)
    await page.fill(SEARCH, 'clap')
    await page.waitForSelector(`${CELL}:first-child:text-is("👏🏻")`)
    await page.press(SEARCH, 'Enter')
    await expectText(page, 'Well done👏🏻')
    expect(await page.evaluate(`document.activeElement === document.querySelector('${BOX}')`)).toBe(true)

    await page.reload()
    await page.press('.composer [aria-label=Emoji]', 'Enter')
    await page.waitForSelector('[role=radiogroup] [aria-label=Recent]:checked')
    await expect.poll(() => page.locator(CELL).allTextContents(), TIMEOUT).toEqual(['👏🏻'])
    await page.fill(SEARCH, 'no such thing')
    await page.waitForSelector('.emoji-picker p:text-is("No emoji found.")')
    await page.press(SEARCH, 'Escape')
    await page.waitForSelector('.emoji-picker', { state: 'detached' })
    expect(problems).toEqual([])
  }, 120_000)

  it('of all kinds are reactions, beside those at hand', async () => {
    const { page, ada, conversation_id, problems } = await openRoom()
    const reactions = async () =>
      (await ada.messages.list(conversation_id, {})).messages[0]!.reactions?.map(({ emoji }) => emoji)
    await page.hover('.message')
    await page.click('.message .at-hand [aria-label=React]')
    await page.click('.message .panel button:has-text("More emoji")')
    await page.waitForSelector(`dialog ${SEARCH}:focus`)
    await page.waitForSelector(`dialog ${CELL}`)
    await look(page, 'emoji-reaction')
    await page.fill(SEARCH, 'otter')
    await page.press(SEARCH, 'Enter')
    await page.waitForSelector('.reaction[aria-label="🦦, 1 reaction"]')
    await page.waitForSelector('dialog', { state: 'detached' })
    expect(await reactions()).toEqual(['🦦'])
    await page.click('.message .at-hand [aria-label=React]')
    await page.click('.message .panel button:text-is("🎉")')
    await page.waitForSelector('.reaction[aria-label="🎉, 1 reaction"]')
    expect(problems).toEqual([])
  })

  it('have German names in a page in German, and those in English too, on a phone', async () => {
    const { page, problems } = await openRoom({
      locale: 'de-DE',
      viewport: { width: 390, height: 780 },
      hasTouch: true,
      isMobile: true,
    })
    await page.tap('.composer [aria-label=Emojis]')
    await page.waitForSelector(CELL)
    await look(page, 'emoji-german')
    await page.fill(SEARCH, 'Otter')
    await page.waitForSelector(`${CELL}[aria-label=Otter]`)
    await page.fill(SEARCH, 'party popper')
    await page.waitForSelector(`${CELL}[aria-label=Konfettibombe]`)
    await page.tap(`${CELL}[aria-label=Konfettibombe]`)
    await expectText(page, '🎉')
    expect(problems).toEqual([])
  })

  it('are loaded with the first one that is looked for, and rendered as far as they are seen soon', async () => {
    const { page, problems } = await openRoom()
    const LOADED = `performance.getEntriesByType('resource').filter(({ name }) => name.includes('/emoji-')).length`
    expect(await page.evaluate(LOADED)).toBe(0)
    await page.press('.composer [aria-label=Emoji]', 'Enter')
    await page.waitForSelector(CELL)
    expect(await page.evaluate(LOADED)).toBe(1)
    const count = async () => (await page.locator(CELL).allTextContents()).length
    expect(await count()).toBeLessThanOrEqual(96)
    await page.evaluate(`{
      const grid = document.querySelector('.emoji-grid')
      grid.scrollTop = grid.scrollHeight
    }`)
    await expect.poll(count, TIMEOUT).toBeGreaterThan(96)
    expect(problems).toEqual([])
  })
})
