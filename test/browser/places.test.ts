import { describe, expect, it } from 'vitest'
import { hasBrowser, type Page } from '../support/browser.ts'
import { look } from './looks.ts'
import { openStage } from './people.ts'
import { openTalk } from './talk.ts'

const hashOf = (page: Page) => page.evaluate('location.hash')
const POLL = { timeout: 30_000 }

describe.skipIf(!hasBrowser)('what leads to a message, a room or a person', () => {
  it('leads to where the layout of the room shows it: from the pins and the inbox', async () => {
    const { url, visit, problems } = await openStage({})
    const { ada, grace, conversation_id, signIn } = await openTalk(url)
    const { message_id } = await grace.messages.postRoot(conversation_id, { content: 'Does it run, @ada?' })
    await ada.pins.add(message_id)
    const { page } = await visit(url)
    await signIn(page, 'ada')
    await page.click('.inbox-button')
    await page.click('.inbox a:has-text("Does it run")')
    await page.waitForSelector(`.stream [data-message-id="${message_id}"][data-target=true]`)
    expect(await page.locator('.thread').allTextContents()).toEqual([])
    await page.goto(`${url}/#/c/${conversation_id}/details/pins`)
    await page.click('.pins a')
    await expect.poll(() => hashOf(page), POLL).toBe(`#/c/${conversation_id}/m/${message_id}`)

    await ada.conversations.rename(conversation_id, { layout: 'topics' })
    await page.goto(`${url}/#/c/${conversation_id}/details/pins`)
    await page.waitForSelector(`.pins a[href="#/c/${conversation_id}/t/${message_id}/m/${message_id}"]`)
    expect(problems).toEqual([])
  })

  it('shows a room by its icon, or #, where it is found, and a person by the photo', async () => {
    const { url, visit, problems } = await openStage({})
    const { ada, grace, conversation_id, signIn } = await openTalk(url)
    await ada.conversations.create({ title: 'Steam engines', icon: '🚂' })
    await ada.conversations.direct({ user_id: (await grace.auth.me()).user.id })
    const { page } = await visit(url)
    await signIn(page, 'ada')
    const signOf = (place: string) => page.locator(`${place} .avatar.sign`).allTextContents()
    await page.press('body', 'Control+k')
    await page.fill('[role=combobox]', 'engines')
    await page.waitForSelector('[role=option]:has-text("Steam engines")')
    expect(await signOf('[role=option]')).toEqual(['#', '🚂'])
    await look(page, 'switcher-rooms')
    await page.fill('[role=combobox]', 'grace')
    await page.waitForSelector('[role=option]:has-text("grace") .avatar[data-initials="G"]')
    await page.press('[role=combobox]', 'Escape')
    await page.goto(`${url}/#/search?q=engines`)
    await page.waitForSelector('.inbox a:has-text("Steam engines")')
    expect(await signOf('.inbox')).toEqual(['#', '🚂'])
    await page.goto(`${url}/#/c/${conversation_id}`)
    await page.fill('.conversation .composer textarea', 'Later')
    await page.goto(`${url}/#/drafts`)
    await page.waitForSelector('.inbox a:has-text("Later")')
    expect(await signOf('.inbox')).toEqual(['#'])
    expect(problems).toEqual([])
  })

  it('begins where the user was, unless that is left or archived, or a phone shows the list', async () => {
    const { url, visit, problems } = await openStage({})
    const { ada, conversation_id, signIn } = await openTalk(url)
    const { conversation_id: other } = await ada.conversations.create({ title: 'Weaving' })
    const { page } = await visit(url)
    await signIn(page, 'ada')
    await page.waitForSelector('.nothing p:text-is("Choose a room or a person.")')
    await page.goto(`${url}/#/c/${conversation_id}`)
    await page.waitForSelector('.conversation h2:text-is("Engines")')
    await page.goto(`${url}/#/threads`)
    await page.waitForSelector('.settings h2:text-is("Threads")')
    await page.click('.settings .close')
    await page.waitForSelector('.conversation h2:text-is("Engines")')
    await page.goto('about:blank')
    await page.goto(url)
    await page.waitForSelector('.conversation h2:text-is("Engines")')
    expect(await hashOf(page)).toBe(`#/c/${conversation_id}`)

    await page.goto(`${url}/#/c/${other}/details/about`)
    await page.click('.details button:text-is("Archive")')
    await page.waitForSelector('.nothing p')
    expect(await hashOf(page)).toBe('#/')
    await page.goto(`${url}/#/c/${conversation_id}`)
    await page.waitForSelector('.conversation h2:text-is("Engines")')
    await page.setViewportSize({ width: 390, height: 780 })
    await page.click('.conversation > header .back')
    await page.waitForSelector('.sidebar a:has-text("Engines"):visible')
    await page.reload()
    await page.waitForSelector('.sidebar a:has-text("Engines"):visible')
    expect(await hashOf(page)).toBe('#/')

    await page.setViewportSize({ width: 1280, height: 800 })
    await page.click('.sidebar > header .menu > button')
    await page.click('.sidebar .panel button:text-is("Sign out")')
    await page.waitForSelector('[name=email]')
    expect(await page.evaluate('Object.keys(localStorage)')).toEqual([])
    expect(problems).toEqual([])
  })

  it('closes the card of a person with a step back', async () => {
    const { url, visit, problems } = await openStage({})
    const { grace, conversation_id, signIn } = await openTalk(url)
    await grace.messages.postRoot(conversation_id, { content: 'Does it run?' })
    const { page } = await visit(url)
    await signIn(page, 'ada')
    await page.goto(`${url}/#/threads`)
    await page.goto(`${url}/#/c/${conversation_id}`)
    await page.click('.message .author')
    await page.waitForSelector('.profile-card')
    await page.evaluate('history.back()')
    await page.waitForSelector('.profile-card', { state: 'detached' })
    await page.waitForSelector('.settings h2:text-is("Threads")')
    expect(problems).toEqual([])
  })

  it('names those who have left, and what an application has written', async () => {
    const { url, visit, chat, problems } = await openStage({})
    const { ada, grace, conversation_id, signIn } = await openTalk(url)
    await grace.auth.changeProfile({ username: 'grace', display_name: 'Grace Hopper' })
    await grace.messages.postRoot(conversation_id, { content: 'Does it run?' })
    const orders = await chat.system('orders')
    const { message_id: quote_id } = await chat.messages.postRoot(orders, conversation_id, { content: 'Coal is here' })
    await ada.messages.postRoot(conversation_id, { content: 'At last', quote_id })
    await ada.participants.remove(conversation_id, (await grace.auth.me()).user.id)
    const { page } = await visit(url)
    await signIn(page, 'ada')
    await page.goto(`${url}/#/c/${conversation_id}`)
    await page.waitForSelector('.message:has-text("Does it run?") .author:text-is("Grace Hopper")')
    await page.waitForSelector('.message:has-text("At last") .quote:has-text("App: Coal is here")')
    expect(problems).toEqual([])
  })

  it('reads names again when events were missed', async () => {
    const { url, visit, problems } = await openStage({})
    const { grace, conversation_id, signIn } = await openTalk(url)
    await grace.messages.postRoot(conversation_id, { content: 'Does it run?' })
    const { page } = await visit(url)
    let proceed = () => {}
    const renamed = new Promise<void>((resolve) => {
      proceed = resolve
    })
    let streams = 0
    // The first stream ends, at a place that the service does not know; the next one waits until a name has changed.
    await page.route(/\/api\/stream(\?|$)/, async (route) => {
      if (streams++ > 0) {
        await renamed
        return route.continue()
      }
      const ready = JSON.stringify({ type: 'stream.ready', payload: { resumed: false, last_event_id: 'gone.1' } })
      await route.fulfill({
        contentType: 'text/event-stream',
        body: `id: gone.1\nevent: stream.ready\ndata: ${ready}\n\n`,
      })
    })
    await signIn(page, 'ada')
    await page.goto(`${url}/#/c/${conversation_id}`)
    await page.waitForSelector('.message .author:text-is("grace")')
    await grace.auth.changeProfile({ username: 'grace', display_name: 'Grace Hopper' })
    proceed()
    await page.waitForSelector('.message .author:text-is("Grace Hopper")')
    expect(problems).toEqual([])
  })
})
