import { describe, expect, it } from 'vitest'
import { hasBrowser } from '../support/browser.ts'
import { look } from './looks.ts'
import { expectOne, openStage, PASSWORD } from './people.ts'
import { openTalk } from './talk.ts'

const PHONE = { viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true }

/** What can be tapped, and has less than 44 pixels in a direction. Words within a text, such as names and links, are as high as it is. */
const SMALL = `(() => {
  const controls = 'a[href], button, input:not([type=file]), select, textarea, summary'
  return [...document.querySelectorAll(controls)].flatMap((each) => {
    if (each.closest('.markdown, .hidden') || each.matches('.author, .link') || !each.checkVisibility({ visibilityProperty: true }))
      return []
    const target = each.closest('label') ?? each
    target.scrollIntoView({ block: 'center', inline: 'center' })
    const { left, right, top, bottom } = target.getBoundingClientRect()
    const isIn = (dx, dy) => {
      const at = document.elementFromPoint((left + right) / 2 + dx, (top + bottom) / 2 + dy)
      return !at || target.contains(at)
    }
    const isLarge = isIn(-21, 0) && isIn(21, 0) && isIn(0, -21) && isIn(0, 21)
    return isLarge ? [] : each.ariaLabel ?? each.textContent
  })
})()`

describe.skipIf(!hasBrowser)('the web chat on a small screen', () => {
  it('opens the menu of a message, reacts with it and edits, wherever the message is', async () => {
    const { url, visit, problems } = await openStage({})
    const { page } = await visit(url, PHONE)
    await page.fill('[name=email]', 'ada@example.org')
    await page.fill('[name=password]', PASSWORD)
    await page.tap('button[type=submit]')
    await page.waitForSelector('.conversation h2:text-is("General")')
    await page.fill('.conversation .composer textarea', 'Does it run?')
    await page.tap('.conversation .composer [aria-label=Send]')
    await page.tap('.message:has-text("Does it run?") .actions > .menu > button')
    await page.tap('.panel button:text-is("Reply in thread")')
    // Enter begins a line; the button sends, and the keys on the screen stay.
    await page.tap('.thread .composer textarea')
    await page.fill('.thread .composer textarea', 'First')
    await page.press('.thread .composer textarea', 'Enter')
    expect(await page.inputValue('.thread .composer textarea')).toBe('First\n')
    for (const text of Array.from({ length: 12 }, (_, index) => `Line ${index}`)) {
      await page.fill('.thread .composer textarea', text)
      await page.tap('.thread .composer [aria-label=Send]')
      await page.waitForSelector('.thread .composer textarea:focus')
      await page.waitForSelector(`.message:has-text("${text}")`)
    }
    for (const text of ['Line 11', 'Does it run?']) {
      await page.tap(`.thread .message:has-text("${text}") .actions > .menu > button`)
      await page.tap(`.thread .message:has-text("${text}") .panel .emoji button`)
      await page.waitForSelector(`.thread .message:has-text("${text}") .reaction:has-text("1")`)
    }
    // The keyboard of a phone makes the window smaller, and leaves with the focus.
    await page.setViewportSize({ width: 390, height: 420 })
    await page.tap('.thread .composer textarea')
    await page.tap('.message:has-text("Line 11") .actions > .menu > button')
    await page.waitForSelector('.message:has-text("Line 11") .panel')
    await page.setViewportSize(PHONE.viewport)
    expect(
      await page.evaluate(`(async () => {
      const list = document.querySelector('.thread .scroll')
      list.scrollTop -= 40
      await new Promise(requestAnimationFrame)
      await new Promise(requestAnimationFrame)
      const panel = document.querySelector('.thread .panel')
      const box = panel.getBoundingClientRect()
      return [panel.matches(':popover-open'), box.left >= 0, box.right <= innerWidth, box.top >= 0, box.bottom <= innerHeight]
    })()`),
    ).toEqual([true, true, true, true, true])
    await page.tap('.message:has-text("Line 11") .panel button:text-is("Edit")')
    await page.fill('.edit textarea', 'Line eleven')
    await page.press('.edit textarea', 'Enter')
    expect(await page.inputValue('.edit textarea')).toBe('Line eleven\n')
    await page.tap('.edit button[type=submit]')
    await expectOne(page, '.message:has-text("Line eleven")')
    expect(problems).toEqual([])
  })

  it('has targets of 44 pixels', async () => {
    const { url, visit, problems } = await openStage({}, { assistant: { provider: 'echo' } })
    const { page } = await visit(url, PHONE)
    const { ada, grace, conversation_id, signIn } = await openTalk(url)
    await page.reload()
    const { message } = await grace.messages.postRoot(conversation_id, { content: 'Does it run, @ada?' })
    await grace.messages.reply(message.id, { content: 'It did.' })
    await ada.reactions.add(message.id, '👍')
    for (const content of ['Let me see.', 'It runs.']) await ada.messages.postRoot(conversation_id, { content })
    const small = () => page.evaluate(SMALL)
    await page.waitForSelector('[name=password]')
    await expect.poll(small, { timeout: 30_000 }).toEqual([])
    await signIn(page, 'ada')
    for (const [route, place] of [
      ['', '.section-head'],
      [`c/${conversation_id}`, '.reaction'],
      [`c/${conversation_id}/t/${message.id}`, '.thread .composer .chip'],
      [`c/${conversation_id}/details/about`, '.details select'],
      [`c/${conversation_id}/details/people`, '.participants select'],
      [`c/${conversation_id}/details/notifications`, '.details select'],
      ['inbox', '.inbox li'],
      ['search?q=run', '.inbox li'],
      ['account/preferences', '.sheet select'],
    ] as const) {
      await page.goto(`${url}/#/${route}`)
      await page.waitForSelector(`${place} >> visible=true`)
      await expect.poll(small, { timeout: 30_000 }).toEqual([])
    }
    await page.goto(`${url}/#/c/${conversation_id}`)
    await page.setViewportSize({ width: 390, height: 430 })
    await page.waitForSelector('.message:has-text("It runs."):visible')
    const isInView = `(({ top, bottom }) => top >= 0 && bottom <= innerHeight)(
      [...document.querySelectorAll('.stream .message')].at(-1).getBoundingClientRect())`
    await expect.poll(() => page.evaluate(isInView), { timeout: 30_000 }).toBe(true)
    expect(problems).toEqual([])
  })

  it('opens the menu of what a finger rests on as a sheet, and none where it scrolls; text can be selected', async () => {
    const { url, visit, problems } = await openStage({})
    const { ada, grace, signIn, conversation_id } = await openTalk(url)
    // Few enough for the row that is pressed to be in view however far the list goes on scrolling.
    for (const each of Array(18).keys()) await ada.messages.postRoot(conversation_id, { content: `Line ${each}` })
    await grace.conversations.markRead(conversation_id, { all: true })
    const { page, context } = await visit(url, PHONE)
    await signIn(page, 'grace')
    await page.evaluate(`{
      window.opened = []
      addEventListener('toggle', ({ target, newState }) => {
        if (newState === 'open') window.opened.push(target.closest('[data-message-id], [data-row]').querySelector('.markdown, .name').textContent)
      }, true)
    }`)
    const browser = await context.newCDPSession(page)
    const touch = (type: string, points: { x: number; y: number }[]) =>
      browser.send('Input.dispatchTouchEvent', { type, touchPoints: points })
    const middleOf = (selector: string) =>
      page.evaluate(`(() => {
        const { left, top, height } = document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect()
        return { x: left + 20, y: top + height / 2 }
      })()`) as Promise<{ x: number; y: number }>
    const press = async (selector: string) => {
      await touch('touchStart', [await middleOf(selector)])
      await page.waitForSelector('.panel')
      await touch('touchEnd', [])
    }

    await page.waitForSelector('.conversations [data-row]')
    await press('.conversations [data-row] .name')
    await page.waitForSelector('.panel button:has-text("Mute")')
    // Lifted, the finger has not followed the link.
    expect(page.url()).not.toContain(conversation_id)
    await page.press('.panel', 'Escape')
    await page.tap('.conversations [data-row] a')
    await page.waitForSelector('.row:last-child .markdown:has-text("Line 17")')
    await page.waitForSelector('.row:last-child .actions > .menu > button')

    const { x, y } = await middleOf('.row:nth-last-child(4) .content')
    await touch('touchStart', [{ x, y }])
    // At the end the finger rests, so that nothing goes on scrolling.
    for (const step of [20, 60, 120, 120, 120, 120]) await touch('touchMove', [{ x, y: y + step }])
    const scrolled = `document.querySelector('.conversation .scroll')`
    await expect
      .poll(() => page.evaluate(`${scrolled}.scrollHeight - ${scrolled}.clientHeight - ${scrolled}.scrollTop`))
      .toBeGreaterThan(50)
    await touch('touchEnd', [])
    // The browser goes on scrolling for a moment, and the finger has to meet the row.
    let before: unknown
    await expect
      .poll(async () => {
        const last = before
        before = await page.evaluate(`${scrolled}.scrollTop`)
        return before === last
      })
      .toBe(true)
    await press('.row:nth-last-child(12) .content')
    expect(await page.evaluate('window.opened')).toEqual(['Engines', 'Line 6'])
    // At the end of the screen, as wide as it is.
    expect(
      await page.evaluate(`(() => {
        const { left, right, bottom } = document.querySelector('.panel').getBoundingClientRect()
        return [left, right - innerWidth, bottom - innerHeight]
      })()`),
    ).toEqual([0, 0, 0])
    await look(page, 'sheet')
    await page.setViewportSize(PHONE.viewport)
    await page.tap('.panel button:text-is("Select text")')
    expect(await page.evaluate('getSelection().toString().trim()')).toBe('Line 6')
    expect(problems).toEqual([])
  })

  it('keeps the details of a conversation when the window becomes too narrow for both, and goes back to it', async () => {
    const { url, visit, problems } = await openStage({})
    const { page } = await visit(url, { viewport: { width: 1400, height: 800 } })
    await page.fill('[name=email]', 'ada@example.org')
    await page.fill('[name=password]', PASSWORD)
    await page.click('button[type=submit]')
    await page.waitForSelector('.conversation h2:text-is("General")')
    await page.fill('.conversation .composer textarea', 'Does it run?')
    await page.press('.conversation .composer textarea', 'Enter')
    await page.hover('.message:has-text("Does it run?")')
    await page.click('.message:has-text("Does it run?") [aria-label="Reply in thread"]')
    await page.waitForSelector('.thread .message')
    await page.click('.people-button')
    await page.waitForSelector('.details:visible')
    await page.waitForSelector('.conversation .composer:visible')
    for (const width of [1000, 719, 400]) {
      await page.setViewportSize({ width, height: 800 })
      await page.waitForSelector('.details:visible')
      await page.waitForSelector('.conversation .composer', { state: 'hidden' })
    }
    await page.click('.details .back')
    await page.waitForSelector('.details', { state: 'detached' })
    await page.waitForSelector('.conversation .message:visible')
    // Below 720 pixels there is one pane.
    await page.setViewportSize({ width: 719, height: 800 })
    await page.waitForSelector('.sidebar', { state: 'hidden' })
    await page.setViewportSize({ width: 720, height: 800 })
    await page.waitForSelector('.sidebar:visible')
    await page.waitForSelector('.conversation .message:visible')
    expect(problems).toEqual([])
  })
})
