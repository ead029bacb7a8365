import { describe, expect, it } from 'vitest'
import { createPuppet } from '../support/assistant.ts'
import { type BrowserContext, hasBrowser, type Page } from '../support/browser.ts'
import { expectOne, openStage, PASSWORD, textsOf, write } from './people.ts'
import { openTalk } from './talk.ts'

const POLL = { timeout: 60_000 }

/** How many streams the service has open. */
async function streamsOf(url: string): Promise<number> {
  const page = await (await fetch(`${url}/metrics`)).text()
  return Number(/^chat_streams_open (\d+)$/m.exec(page)?.[1])
}

/** Opens a thread in a further tab, and waits until it has what there is. */
async function openTab(context: BrowserContext, address: string): Promise<Page> {
  const page = await context.newPage()
  await page.goto(address)
  await page.waitForSelector('.thread .message')
  return page
}

describe.skipIf(!hasBrowser)('tabs of one browser', () => {
  it('share a stream, which another tab takes over in the middle of an answer when its tab is closed', async () => {
    const puppet = createPuppet()
    const { url, visit, problems } = await openStage({ assistant: puppet.assistant })
    const { ada, signIn, conversation_id } = await openTalk(url)
    const { message: root } = await ada.messages.postRoot(conversation_id, { content: 'Begin' })
    const address = `${url}/#/c/${conversation_id}/t/${root.id}`
    const { page: first, context } = await visit(url)
    await signIn(first, 'grace')
    await first.goto(address)
    await first.waitForSelector('.thread .message')
    const second = await openTab(context, address)
    const third = await openTab(context, address)
    for (const tab of [second, third]) await tab.waitForSelector('.conversations a')
    await expect.poll(() => streamsOf(url), POLL).toBe(1)

    await write(second, 'thread', 'From the second')
    for (const tab of [first, third]) await expectOne(tab, '.message:has-text("From the second"):not([data-pending])')
    await write(first, 'thread', 'From the first')
    for (const tab of [second, third]) await expectOne(tab, '.message:has-text("From the first"):not([data-pending])')

    await ada.messages.reply(root.id, { content: 'Why?', role: 'assistant' })
    const answer = await puppet.asked()
    answer.say('One, ')
    for (const tab of [first, second, third])
      await tab.waitForSelector('.message[data-role=assistant]:has-text("One,")')
    await first.close()
    answer.say('two, ')
    for (const tab of [second, third]) await tab.waitForSelector('.message[data-role=assistant]:has-text("two,")')
    answer.say('three.')
    answer.end()
    for (const tab of [second, third]) {
      await tab.waitForSelector('[aria-label=Stop]', { state: 'detached' })
      expect((await textsOf(tab)).filter((text) => text.includes('One'))).toEqual(['One, two, three.'])
    }
    await ada.messages.reply(root.id, { content: 'Thanks' })
    for (const tab of [second, third]) await expectOne(tab, '.message:has-text("Thanks")')
    expect(await streamsOf(url)).toBe(1)
    expect(problems).toEqual([])
  })

  it('show what two of them post at the same time once each', async () => {
    const { url, visit, problems } = await openStage({})
    const { ada, signIn, conversation_id } = await openTalk(url)
    const { message: root } = await ada.messages.postRoot(conversation_id, { content: 'Begin' })
    const address = `${url}/#/c/${conversation_id}/t/${root.id}`
    const { page: first, context } = await visit(url)
    await signIn(first, 'grace')
    await first.goto(address)
    await first.waitForSelector('.thread .message')
    const second = await openTab(context, address)
    for (let round = 0; round < 5; round++)
      await Promise.all([write(first, 'thread', `Both ${round}`), write(second, 'thread', `Both ${round}`)])
    for (const tab of [first, second]) {
      await expect
        .poll(() => tab.locator('.thread .message:not([data-pending]) .markdown').allTextContents(), POLL)
        .toHaveLength(11)
      const { messages } = await ada.threads.tree(root.id)
      expect(await textsOf(tab)).toEqual(messages.map(({ content }) => content))
    }
    expect(problems).toEqual([])
  })

  it('share a sign-in and a sign-out', async () => {
    const { url, visit, problems } = await openStage({})
    const { signIn } = await openTalk(url)
    const { page: first, context } = await visit(url)
    const second = await context.newPage()
    await second.goto(url)
    await second.waitForSelector('[name=password]')
    await signIn(first, 'grace')
    await second.waitForSelector('.conversations a')
    await expect.poll(() => streamsOf(url), POLL).toBe(1)
    await second.click('[aria-label="Your account"]')
    await second.click('button:text("Sign out")')
    await first.waitForSelector('[name=password]')
    expect(await streamsOf(url)).toBe(0)
    await first.fill('[name=email]', 'ada@example.org')
    await first.fill('[name=password]', PASSWORD)
    await first.press('[name=password]', 'Enter')
    await second.waitForSelector('.conversations a')
    expect(problems).toEqual([])
  })

  it('take the stream from one that does not answer, and have one each without a BroadcastChannel', async () => {
    const { url, visit, problems } = await openStage({})
    const { ada, grace, signIn, conversation_id } = await openTalk(url)
    const { message: root } = await ada.messages.postRoot(conversation_id, { content: 'Begin' })
    const { user } = await grace.auth.me()
    const { page: frozen, context } = await visit(`${url}/icon.svg`)
    await frozen.evaluate(
      `void navigator.locks.request('chat:stream:${url}:${user.id}', () => new Promise(() => {})).catch(() => {})`,
    )
    const first = await context.newPage()
    await first.goto(url)
    await signIn(first, 'grace')
    await first.goto(`${url}/#/c/${conversation_id}/t/${root.id}`)
    await first.waitForSelector('.thread .message')
    await ada.messages.reply(root.id, { content: 'Live' })
    await expectOne(first, '.message:has-text("Live")')
    expect(await streamsOf(url)).toBe(1)

    const alone = await context.newPage()
    await alone.addInitScript('delete window.BroadcastChannel')
    await alone.goto(`${url}/#/c/${conversation_id}/t/${root.id}`)
    await alone.waitForSelector('.message:has-text("Live")')
    await ada.messages.reply(root.id, { content: 'To both' })
    for (const tab of [first, alone]) await expectOne(tab, '.message:has-text("To both")')
    expect(await streamsOf(url)).toBe(2)
    expect(problems).toEqual([])
  })
})
