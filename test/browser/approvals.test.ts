import { describe, expect, it } from 'vitest'
import type { Assistant } from '../../lib/assistant/provider.ts'
import { type ApprovalOptions, defineTool } from '../../lib/index.ts'
import { hasBrowser, type Page } from '../support/browser.ts'
import { look, lookInModes } from './looks.ts'
import { expectOne, openStage } from './people.ts'
import { openTalk } from './talk.ts'

const ANY = {
  json_schema: { type: 'object' },
  validate: (value: unknown) => ({ value: value as Record<string, unknown> }),
}

/** What hides a part of itself from a reader who sees its characters alone. */
const INPUT = { amount: 5, to: 'a\u202Eb\u200B', note: `${'long '.repeat(2_000)}end` }

const assistant: Assistant = async function* ({ step, so_far }) {
  if (step === 1) yield { tool_call: { name: 'refund', input: INPUT } }
  else yield `It is ${so_far.map((part) => (part.type === 'tool' ? part.state : '')).join('')}.`
}

/** Ada, who owns the room and has asked, and Grace see the answer that waits in their browsers. */
async function openApproval(approval: ApprovalOptions) {
  const ran: unknown[] = []
  const refund = defineTool({
    description: 'Pays money back',
    title: 'Refund',
    input: ANY,
    approval,
    show: 'name',
    run: (input) => void ran.push(input),
  })
  const stage = await openStage({ assistant, tools: { refund } }, { assistant: { tools: ['refund'] } })
  const { ada, grace, signIn, conversation_id } = await openTalk(stage.url)
  const open = async (name: 'ada' | 'grace', locale?: string) => {
    const { page } = await stage.visit(`${stage.url}/#/c/${conversation_id}`, locale ? { locale } : {})
    await signIn(page, name)
    await page.goto(`${stage.url}/#/c/${conversation_id}`)
    await page.waitForSelector('.composer textarea')
    return page
  }
  const ask = async () =>
    (await ada.messages.postRoot(conversation_id, { content: 'Pay it back', role: 'assistant' })).message_id
  return { ...stage, ada, grace, ran, open, ask, conversation_id }
}

const isClosed = (page: Page) => page.waitForSelector('.approval', { state: 'detached' })

describe.skipIf(!hasBrowser)('a call of a tool that waits for approval, in the web chat', () => {
  it('shows all that would run to those who decide, by keys, and closes everywhere', async () => {
    const { open, ask, ran, problems } = await openApproval({ by: 'asker' })
    const page = await open('ada')
    const other = await open('grace', 'de-DE')
    await ask()
    await page.waitForSelector('.approval strong:text("Run “Refund”?")')
    const input = (await page.locator('.approval pre').allTextContents())[0]!
    expect(JSON.parse(input.replaceAll('\\u{', '\\\\u{'))).toEqual({ ...INPUT, to: 'a\\u{202e}b\\u{200b}' })
    await page.waitForSelector('.approval p:text-is("You decide.")')
    await page.waitForSelector('.approval [aria-hidden]:text-matches("^Time left: 2[34] h")')
    await expect.poll(() => page.locator('.answer-line, .message .note').allTextContents()).toHaveLength(1)
    await look(page, 'approval')
    await lookInModes(page, 'approval')

    // Grace manages nothing here: she reads who decides, and not the input.
    await other.waitForSelector('.approval strong:text("„Refund“ ausführen?")')
    await other.waitForSelector('.approval p:text-is("Ada Lovelace entscheidet.")')
    await other.waitForSelector('.approval p:text-is("Die Eingabe sehen nur die, die entscheiden.")')
    expect(await other.locator('.approval button, .approval pre, .approval input').allTextContents()).toEqual([])
    await look(other, 'approval-german')

    // An arrow leads into the message; the input scrolls by keys, and Tab goes on from it.
    await page.press('.row:has(.approval)', 'ArrowRight')
    for (let step = 0; step < 10; step++) {
      if ((await page.evaluate('document.activeElement.tagName')) === 'PRE') break
      await page.keyboard.press('ArrowRight')
    }
    await page.keyboard.press('End')
    await expect.poll(() => page.evaluate('document.activeElement.scrollTop')).toBeGreaterThan(100)
    await page.keyboard.press('Tab')
    await page.keyboard.type('Fine')
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Approve')
    await page.keyboard.press('Enter')
    await isClosed(page)
    await isClosed(other)
    await page.waitForSelector('.message .markdown:has-text("It is done.")')
    expect(ran).toEqual([INPUT])
    // The focus is not lost with the card.
    expect(await page.evaluate('document.activeElement.className')).toBe('tool')
    expect(problems).toEqual([])
  }, 180_000)

  it('is denied by a reason, and nothing runs', async () => {
    const { open, ask, ran, ada, problems } = await openApproval({ by: 'members' })
    const [page, other] = [await open('ada'), await open('grace')]
    const message_id = await ask()
    await page.waitForSelector('.approval p:has-text("Those who may write here decide.")')
    await other.fill('.approval input', 'Not this month')
    await other.click('.approval button:text-is("Deny")')
    await isClosed(page)
    await isClosed(other)
    await page.waitForSelector('.tool[data-state=denied] .tool-state:text("denied")')
    await page.waitForSelector('.message .markdown:has-text("It is denied.")')
    expect(ran).toEqual([])
    const { approvals } = await ada.approvals.list({})
    expect(approvals).toMatchObject([{ message_id, votes: [{ approve: false, reason: 'Not this month' }] }])
    expect(problems).toEqual([])
  }, 120_000)

  it('needs as many as its quorum, and shows who has decided', async () => {
    const { open, ask, ran, problems } = await openApproval({ by: 'members', quorum: 2 })
    const [page, other] = [await open('ada'), await open('grace')]
    await ask()
    await page.click('.approval button:text-is("Approve")')
    for (const each of [page, other]) {
      await each.waitForSelector('.approval p:has-text("1 of 2 have approved.")')
      await each.waitForSelector('.approval li:has-text("Ada Lovelace has approved")')
    }
    // Who has approved can still deny.
    await page.waitForSelector('.approval button[aria-disabled=true]:text-is("Approve")')
    await expectOne(page, '.approval button:not([aria-disabled=true])')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Approve')
    expect(ran).toEqual([])
    await look(page, 'approval-quorum')
    await other.click('.approval button:text-is("Approve")')
    await isClosed(page)
    await isClosed(other)
    await other.waitForSelector('.message .markdown:has-text("It is done.")')
    expect(ran).toHaveLength(1)
    expect(problems).toEqual([])
  }, 120_000)

  it('is in the inbox of who may decide, leads to the card, and is done with the outcome', async () => {
    const { open, ask, grace, problems, url } = await openApproval({ by: 'members' })
    const [page, other] = [await open('grace'), await open('ada', 'de-DE')]
    for (const each of [page, other]) await each.goto(`${url}/#/inbox`)
    await ask()
    await page.waitForSelector('.inbox a[data-unread=true]:has-text("Assistant asks for your approval in # Engines")')
    await other.waitForSelector('.inbox a[data-unread=true]:has-text("bittet um deine Freigabe")')
    await look(page, 'inbox-approval')
    await page.click('.inbox a:has-text("asks for your approval")')
    await page.waitForSelector('.approval button:text-is("Approve")')
    const { approvals } = await grace.approvals.list({ mine: true })
    await grace.approvals.decide(approvals[0]!.call_id, { approve: false })
    await isClosed(page)
    await other.waitForSelector('.inbox a[data-unread=true]:has-text("Freigabe")', { state: 'detached' })
    expect(problems).toEqual([])
  }, 120_000)

  it('says that another user was faster', async () => {
    const { open, ask, grace, problems } = await openApproval({ by: 'members' })
    const page = await open('ada')
    await ask()
    await page.waitForSelector('.approval button:text-is("Approve")')
    const { approvals } = await grace.approvals.list({ mine: true })
    await page.route(/\/api\/approvals\//, async (route) => {
      await route.fulfill({
        status: 409,
        contentType: 'application/problem+json',
        body: JSON.stringify({
          type: 'urn:chat-server:problem:conflict',
          status: 409,
          code: 'conflict',
          title: 'Conflict',
        }),
      })
    })
    await page.click('.approval button:text-is("Approve")')
    await page.waitForSelector('.approval [role=alert]:text-is("Too late: it is decided already.")')
    await page.unrouteAll({ behavior: 'wait' })
    await grace.approvals.decide(approvals[0]!.call_id, { approve: false })
    await isClosed(page)
    expect(problems).toEqual([])
  }, 120_000)
})
