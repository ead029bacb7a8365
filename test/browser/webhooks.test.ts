import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { MINUTE } from '../../lib/core/units.ts'
import { hasBrowser, type Page } from '../support/browser.ts'
import { startWebhookReceiver, type WebhookReceiver, webhooksTo } from '../support/webhook-receiver.ts'
import { look, lookInModes } from './looks.ts'
import { openStage, PASSWORD, signIn, signInAsAda } from './people.ts'

const PATIENT = { timeout: 60_000, interval: 200 }

async function openReceiver(): Promise<WebhookReceiver> {
  const receiver = await startWebhookReceiver()
  onTestFinished(() => receiver.close())
  return receiver
}

/** Returns challenges, and answers everything else with a status. */
function echoing(status: number): WebhookReceiver['answer'] {
  return ({ type, event }) =>
    type === 'webhook.challenge' ? (response) => response.writeHead(200).end(event.data.challenge) : status
}

/** Reads the deliveries again until one has a text. */
function waitForDelivery(page: Page, text: string): Promise<void> {
  return vi.waitFor(async () => {
    await page.click('button:text-is("Refresh")')
    expect((await page.locator('.items > li').allTextContents()).join()).toContain(text)
  }, PATIENT)
}

describe.skipIf(!hasBrowser)('webhooks in the web chat', () => {
  it('are made, verified, tested, replayed, switched, given new secrets and deleted', async () => {
    const receiver = await openReceiver()
    let late = 0
    const config = webhooksTo(receiver)
    const untrusting = { ...config, webhooks: { enabled: true } }
    const stage = await openStage({ now: () => Date.now() * 1000 + late }, untrusting)
    const { chat, problems, url } = stage
    const { page: admins, ada } = await signInAsAda(stage)
    const { user } = await chat.users.create(ada, { username: 'grace', email: 'grace@example.org', password: PASSWORD })
    const { conversation_id } = await chat.conversations.create(ada, { title: 'Engines' })
    await chat.participants.add(ada, conversation_id, { user_id: user.id })
    const { page } = await signIn(stage, 'grace@example.org')
    await page.goto(`${url}/#/account/webhooks`)
    await page.waitForSelector('.sheet:has-text("You have no webhooks.")')
    await look(page, 'webhooks-none')
    late = 11 * MINUTE
    await page.fill('[name=url]', 'https://localhost/events')
    await page.press('[name=url]', 'Enter')
    await page.waitForSelector('[name=url][aria-invalid]:focus')
    await page.fill('[name=url]', receiver.url)
    await page.fill('[name=types]', 'message.new, no.such')
    await page.press('[name=types]', 'Enter')
    await page.waitForSelector('[name=types][aria-invalid]:focus')
    await page.fill('[name=types]', 'message.new')
    await page.press('[name=types]', 'Enter')
    await page.fill('dialog [name=password]', PASSWORD)
    await page.press('dialog [name=password]', 'Enter')
    await page.waitForSelector('dialog h2:has-text("The secret of the webhook")')
    await look(page, 'webhook-secret')
    const secret = await page.inputValue('dialog input')
    expect(secret).toMatch(/^whsec_/)
    await page.click('dialog .primary')

    await page.waitForSelector('.identity:has-text("not verified")')
    await page.click('button:text-is("Verify")')
    await page.waitForSelector('.outcome:has-text("Status 204 in"):has-text("the challenge was not returned")')
    await look(page, 'webhook-unverified')
    receiver.answer = echoing(204)
    await page.click('button:text-is("Verify")')
    await page.waitForSelector('.identity .tag:text-is("active")')
    await page.click('button:text-is("Send a test")')
    await page.waitForSelector('.outcome:has-text("Status 204 in"):not(:has-text("challenge"))')
    await page.waitForSelector('.sheet .quiet:text-is("No deliveries.")')

    await chat.messages.postRoot(ada, conversation_id, { content: 'one' })
    await waitForDelivery(page, 'delivered')
    receiver.answer = echoing(500)
    await chat.messages.postRoot(ada, conversation_id, { content: 'two' })
    await waitForDelivery(page, 'waiting')
    await page.click('.items > li:has-text("waiting") summary')
    await page.waitForSelector('.attempts li:has-text("Status 500 in"):has-text("not a success")')
    await page.waitForSelector('.identity:has-text("1 event will be sent again")')
    await look(page, 'webhook')
    await lookInModes(page, 'webhook')
    await page.selectOption('.sheet select:has(option[value=dead])', 'dead')
    await page.waitForSelector('.sheet .quiet:text-is("No deliveries.")')
    await page.selectOption('.sheet select:has(option[value=dead])', 'delivered')
    await page.waitForSelector('.items > li:has-text("delivered")')
    expect(await page.locator('.items > li').allTextContents()).toHaveLength(1)
    receiver.answer = echoing(204)
    receiver.calls.length = 0
    await page.click('.items > li:has-text("delivered") button')
    await page.waitForSelector('.toast:has-text("It is sent again.")')
    await receiver.waitFor(1)
    expect(receiver.contents()).toContain('one')
    await page.selectOption('.sheet select:has(option[value=dead])', 'all')
    await waitForDelivery(page, 'delivered')

    receiver.calls.length = 0
    const offset = new Date().getTimezoneOffset() * 60_000
    await page.fill('[name=since]', new Date(Date.now() - offset).toISOString().slice(0, 16))
    await page.press('[name=since]', 'Enter')
    await page.waitForSelector('.toast:has-text("The events since then are sent again.")')
    await vi.waitFor(() => expect(new Set(receiver.contents())).toEqual(new Set(['one', 'two'])), PATIENT)
    await page.click('button:text-is("Disable")')
    await page.waitForSelector('.sheet p:text-is("You have disabled it.")')
    await look(page, 'webhook-disabled')
    await page.click('button:text-is("Enable")')
    await page.waitForSelector('.identity .tag:text-is("active")')
    await page.click('button:text-is("New secret")')
    await page.waitForSelector('dialog h2:has-text("The new secret")')
    expect(await page.inputValue('dialog input')).not.toBe(secret)
    await page.click('dialog .primary')
    await page.fill('[name=description]', 'For the records')
    await page.press('[name=description]', 'Enter')
    await page.waitForSelector('.identity:has-text("For the records")')

    await admins.goto(`${url}/#/administration/webhooks`)
    await admins.waitForSelector(`.items li:has-text("127.0.0.1:${receiver.port}"):has-text("grace")`)
    await look(admins, 'administration-webhooks')
    await lookInModes(admins, 'administration-webhooks')
    await admins.click(`[aria-label="Disable the webhook of 127.0.0.1:${receiver.port}"]`)
    await admins.waitForSelector('.items li:has-text("disabled by an administrator")')
    await admins.fill('.sheet [type=search]', 'elsewhere.example.org')
    await admins.waitForSelector('.sheet .quiet:text-is("No webhooks.")')
    await admins.fill('.sheet [type=search]', '')
    await admins.selectOption('.sheet select', 'disabled')
    await admins.waitForSelector('.items li:has-text("disabled by an administrator")')
    await page.reload()
    await page.waitForSelector('.sheet p:has-text("An administrator has disabled it.")')
    expect(await page.locator('button:text-is("Enable")').allTextContents()).toEqual([])
    await admins.click(`[aria-label="Enable the webhook of 127.0.0.1:${receiver.port}"]`)
    await admins.waitForSelector('.sheet .quiet:text-is("No webhooks.")')

    await page.click('.sheet a:text("All webhooks")')
    await page.waitForSelector('#settings-title:focus')
    await page.waitForSelector('.items a')
    await look(page, 'webhooks')
    await lookInModes(page, 'webhooks')
    await page.click('.items a')
    await page.click('.sheet button:text-is("Delete")')
    await look(page, 'webhook-delete')
    await page.click('dialog .danger')
    await page.waitForSelector('.sheet:has-text("You have no webhooks.")')
    expect(await chat.webhooks.list(await chat.users.actor(user.id))).toEqual({ webhooks: [] })
    expect(problems).toEqual([])
  }, 180_000)

  it('are of a bot and signed by a key pair, in German and in the dark', async () => {
    const receiver = await openReceiver()
    const stage = await openStage({}, { ...webhooksTo(receiver), bots: { enabled: true } })
    const { chat, problems, url } = stage
    const { page, ada } = await signInAsAda(stage, { locale: 'de-DE', colorScheme: 'dark' })
    const { bot } = await chat.bots.create(ada, { username: 'deploys' })
    const { conversation_id } = await chat.conversations.create(ada, { title: 'Engines' })
    await page.goto(`${url}/#/account/webhooks`)
    await page.fill('[name=url]', receiver.url)
    await page.selectOption('.sheet select:has(option:text("deploys"))', bot.id)
    await page.click('.more summary:text-is("Mehr")')
    await look(page, 'webhooks-more-de')
    await page.selectOption('.sheet select:has(option[value=v1a])', 'v1a')
    await page.selectOption('.sheet select:has(option[value=thin])', 'thin')
    await page.selectOption('.sheet select:has(option[value=conversation])', 'conversation')
    await page.selectOption('.sheet select:has(option:text("Engines"))', conversation_id)
    await page.press('[name=url]', 'Enter')
    // The bot is not in that room.
    await page.waitForSelector('.sheet form [role=alert]')
    await chat.participants.add(ada, conversation_id, { user_id: bot.id })
    await page.press('[name=url]', 'Enter')
    await page.waitForSelector('.identity:has-text("vom Bot deploys"):has-text("aktiv")')
    expect(await page.inputValue('.sheet input[readonly]')).toMatch(/^whpk_/)
    await page.waitForSelector('.sheet .hint:has-text("Nur Engines"):has-text("Ohne Texte"):has-text("Ed25519")')
    await look(page, 'webhook-de')
    await page.selectOption('.sheet select:has(option:text("Engines"))', '')
    await page.press('[name=url]', 'Enter')
    await page.waitForSelector('.sheet .hint:has-text("Alle Räume"):has-text("Ohne Texte")')
    expect((await chat.webhooks.list(ada)).webhooks[0]).not.toHaveProperty('conversation_id')
    await page.selectOption('.sheet select:has(option:text("Engines"))', conversation_id)
    await page.press('[name=url]', 'Enter')
    await page.waitForSelector('.sheet .hint:has-text("Nur Engines")')
    await page.click('.tabs a:text("Profil")')
    await page.click('.tabs a:text("Webhooks")')
    await page.waitForSelector('.items a')
    await look(page, 'webhooks-de')
    const { webhooks } = await chat.webhooks.list(ada)
    expect(webhooks).toMatchObject([{ bot_id: bot.id, conversation_id, order: 'conversation', payload: 'thin' }])
    await page.goto(`${url}/#/administration/webhooks`)
    await page.waitForSelector('.items li:has-text("aktiv")')
    await look(page, 'administration-de-webhooks')
    expect(problems).toEqual([])
  })

  it('are made and changed with all that a webhook has, most of it folded', async () => {
    const receiver = await openReceiver()
    const stage = await openStage({}, webhooksTo(receiver))
    const { chat, problems, url } = stage
    const { page, ada } = await signInAsAda(stage)
    const { user } = await chat.users.create(ada, { username: 'grace', email: 'grace@example.org', password: PASSWORD })
    const grace = await chat.users.actor(user.id)
    const { conversation } = await chat.conversations.direct(ada, { user_id: user.id })
    const conversation_id = conversation.id
    await chat.messages.postRoot(grace, conversation_id, { content: 'before' })
    const webhook = async () => (await chat.webhooks.list(ada)).webhooks[0]
    const save = () => page.press('[name=url]', 'Enter')
    await page.goto(`${url}/#/account/webhooks`)
    await page.fill('[name=url]', receiver.url)
    await page.press('.more summary', 'Enter')
    await look(page, 'webhooks-more')
    await lookInModes(page, 'webhooks-more')
    await page.fill('[name=parallel]', '17')
    await page.click('.more summary')
    await save()
    // Refused by the browser, as what is folded again is shown.
    await page.waitForSelector('.more[open] [name=parallel]:focus')
    await page.fill('[name=parallel]', '2')
    await page.fill('[name=since]', '2999-01-01T00:00')
    await page.click('.more summary')
    await save()
    await page.waitForSelector('.more[open] [name=since][aria-invalid]:focus')
    const since = new Date(Date.now() - new Date().getTimezoneOffset() * MINUTE - 2 * MINUTE)
    await page.fill('[name=since]', since.toISOString().slice(0, 16))
    for (const wrong of ['x-team', 'x-team: a\nX-Team: b', 'x-team:', 'cookie: a=b']) {
      await page.fill('[name=headers]', wrong)
      await save()
      await page.waitForSelector('[name=headers][aria-invalid]:focus')
    }
    await look(page, 'webhooks-more-refused')
    await page.fill('[name=headers]', 'authorization: Bearer one\n\nx-team : crm, Ada: all ')
    await page.selectOption('.more select:has(option[value=notified])', 'notified')
    await page.selectOption('.more select:has(option[value=left_out])', 'left_out')
    await page.selectOption('.more select:has(option[value=conversation])', 'conversation')
    await save()
    await page.waitForSelector('dialog h2:has-text("The secret of the webhook")')
    expect(await webhook()).toMatchObject({
      ...{ only: 'notified', bots: false, order: 'conversation', parallel: 2, payload: 'full', signature: 'v1' },
      headers: ['authorization', 'x-team'],
    })
    await receiver.waitFor(1)
    expect(receiver.contents()).toEqual(['before'])
    expect(receiver.calls[0]!.headers).toMatchObject({ authorization: 'Bearer one', 'x-team': 'crm, Ada: all' })
    await page.click('dialog .primary')
    const facts = '.sheet .hint:has-text("Mentions, replies"):has-text("2 at a time"):has-text("authorization, x-team")'
    await page.waitForSelector(facts)

    // What is sent once, such as where to begin again, is not sent with the next change.
    await page.click('.more summary')
    await page.waitForSelector('.more .hint:has-text("Sent now: authorization, x-team.")')
    await page.fill('.more [name=since]', since.toISOString().slice(0, 16))
    await page.fill('.more [name=headers]', 'x-team: moon')
    await save()
    await receiver.waitFor(2)
    expect(receiver.calls[1]!.headers).toMatchObject({ 'x-team': 'moon' })
    expect(receiver.calls[1]!.headers).not.toHaveProperty('authorization')
    await page.waitForSelector('.more .hint:has-text("Sent now: x-team.")')
    expect(await page.inputValue('.more [name=since]')).toBe('')
    expect(await page.inputValue('.more [name=headers]')).toBe('')
    await page.selectOption('.more select:has(option[value=v1a])', 'v1a')
    await page.waitForSelector('.more .hint:has-text("Another signature replaces the secret.")')
    await page.selectOption('.more select:has(option[value=notified])', 'all')
    await page.selectOption('.more select:has(option[value=left_out])', 'sent')
    await page.fill('.more [name=parallel]', '16')
    await page.click('.more [name=no_headers]')
    await look(page, 'webhook-more')
    await save()
    await page.waitForSelector('.sheet .hint:has-text("16 at a time"):has-text("Ed25519"):not(:has-text("Headers:"))')
    expect(await webhook()).toMatchObject({ only: 'all', bots: true, parallel: 16, signature: 'v1a', headers: [] })
    await chat.messages.postRoot(grace, conversation_id, { content: 'after' })
    await receiver.waitFor(3)
    expect(receiver.contents()).toEqual(['before', 'before', 'after'])
    expect(problems).toEqual([])
  }, 120_000)

  it('are not offered where the service sends none', async () => {
    const stage = await openStage({})
    const { page } = await signInAsAda(stage)
    for (const [part, first] of [
      ['account', 'Profile'],
      ['administration', 'Users'],
    ]) {
      await page.goto(`${stage.url}/#/${part}/webhooks`)
      await page.waitForSelector(`.tabs a[aria-current]:text-is("${first}")`)
      expect(await page.locator('.tabs a').allTextContents()).not.toContain('Webhooks')
    }
    expect(stage.problems).toEqual([])
  })
})
