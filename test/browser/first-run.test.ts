import { describe, expect, it } from 'vitest'
import { createPuppet } from '../support/assistant.ts'
import { hasBrowser, type Page } from '../support/browser.ts'
import { createMailbox } from '../support/mailbox.ts'
import { look } from './looks.ts'
import { expectOne, openDetails, openStage, PASSWORD, type Stage, signInAsAda } from './people.ts'

/** Waits until the box of a place has the focus. */
const focusedBox = (page: Page, place: string) => page.waitForSelector(`textarea[aria-label="Message ${place}"]:focus`)

async function joinAs(page: Page, name: string): Promise<void> {
  await page.fill('[name=display_name]', name)
  await page.fill('[name=email]', `${name.replace(' ', '.').toLowerCase()}@example.org`)
  await page.fill('[name=password]', PASSWORD)
  await page.press('[name=password]', 'Enter')
}

/** Opens a room of Ada's with a link for some people. */
async function openRoom({ chat }: Stage, max_uses: number) {
  const { user } = await chat.setup.run({ email: 'ada@example.org', password: PASSWORD, display_name: 'Ada Lovelace' })
  const ada = await chat.users.actor(user.id)
  const { conversation_id } = await chat.conversations.create(ada, { title: 'Engines' })
  const { token = '', invite_id } = await chat.invites.create(ada, conversation_id, { max_uses })
  return { ada, conversation_id, token, invite_id }
}

describe.skipIf(!hasBrowser)('the first hour', () => {
  it('leads from the first account into General, with a link for others and a question to try', async () => {
    const puppet = createPuppet()
    const stage = await openStage({ assistant: puppet.assistant })
    const { page } = await stage.visit(stage.url, { permissions: ['clipboard-read', 'clipboard-write'] })
    await joinAs(page, 'Ada Lovelace')
    await page.waitForSelector('.conversation h2:text-is("General")')
    await focusedBox(page, 'General')
    await page.waitForSelector('.greeting h3:text-is("Welcome to General")')
    await look(page, 'greeting')
    await page.click('.greeting button:text-is("Copy invite link")')
    await page.waitForSelector('.greeting small:text-is("The link is copied. 25 people can join with it, for 7 days.")')
    const link = await page.inputValue('.greeting input')
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(link)
    await look(page, 'greeting-link')
    await page.click('.greeting button:text-is("Revoke")')
    await page.waitForSelector('.greeting button:text-is("Copy invite link")')
    const { page: late } = await stage.visit(link)
    await late.waitForSelector('h1:text-is("This invite doesn’t work")')
    await expectOne(late, '[role=alert]:has-text("The invite was revoked.")')
    expect(await late.locator('input').allTextContents()).toEqual([])

    await page.click('.greeting button:text-is("What can you help us with?")')
    await page.waitForSelector('.greeting', { state: 'detached' })
    const answer = await puppet.asked()
    answer.say('With engines.')
    answer.end()
    await page.waitForSelector('.message:has-text("With engines.")')
    expect(stage.problems).toEqual([])
  })

  it('lets five browsers join by one link; a sixth reads that it is used up before any form', async () => {
    const stage = await openStage({})
    const { token } = await openRoom(stage, 5)
    const link = `${stage.url}/#/join/${token}`
    for (const name of ['Bob', 'Grace Hopper', 'Eve', 'Linus', 'Mia']) {
      const { page } = await stage.visit(link)
      await page.waitForSelector('h1:text-is("Join Engines")')
      await expectOne(page, 'p:text-is("Ada Lovelace invites you.")')
      if (name === 'Bob') await look(page, 'join')
      await joinAs(page, name)
      await focusedBox(page, 'Engines')
    }
    const { page } = await stage.visit(link)
    await page.waitForSelector('[role=alert]:has-text("The invite is used up.")')
    await look(page, 'join-used')
    expect(await page.locator('input').allTextContents()).toEqual([])
    expect(stage.problems).toEqual([])
  }, 120_000)

  it('names the room and who invites also where the form is that of a sign-in', async () => {
    const stage = await openStage({}, { invites: { allow_signup: false } })
    const { token } = await openRoom(stage, 5)
    const { page } = await stage.visit(`${stage.url}/#/join/${token}`)
    await page.waitForSelector('h1:text-is("Join Engines")')
    await expectOne(page, 'p:text-is("Ada Lovelace invites you.")')
    await page.waitForSelector('p:has-text("This invite is for people with an account.")')
    await look(page, 'join-sign-in')
    expect(stage.problems).toEqual([])

    const open = await openStage({})
    const { page: other } = await open.visit(`${open.url}/#/join/${(await openRoom(open, 5)).token}`)
    await other.click('button:text-is("I have an account")')
    await other.waitForSelector('button:text-is("Sign in")')
    await other.waitForSelector('h1:text-is("Join Engines")')
    await expectOne(other, 'p:text-is("Ada Lovelace invites you.")')

    const hosted = await openStage(
      { identity: () => undefined },
      {},
      { brand: { name: 'Acme', sign_in_url: '/login' } },
    )
    const { page: third } = await hosted.visit(`${hosted.url}/#/join/${(await openRoom(hosted, 5)).token}`)
    await third.waitForSelector('h1:text-is("Join Engines")')
    await expectOne(third, 'p:text-is("Ada Lovelace invites you.")')
    await third.waitForSelector('a.primary:text-is("Sign in")')
  })

  it('lists the invite links of a room, for one, five or 25 people, and revokes them', async () => {
    const stage = await openStage({})
    const { ada, conversation_id, token } = await openRoom(stage, 5)
    const { page } = await stage.visit(`${stage.url}/#/c/${conversation_id}`)
    await page.fill('[name=email]', 'ada@example.org')
    await page.fill('[name=password]', PASSWORD)
    await page.press('[name=password]', 'Enter')
    await openDetails(page, 'Invite links')
    await page.waitForSelector('.invite li:has-text("0 of 5 joined")')
    await page.selectOption('.invite select', '1')
    await page.click('.invite button:text-is("Copy invite link")')
    await page.waitForSelector('.invite small:has-text("1 person can join with it")')
    await page.waitForSelector('.invite li:has-text("0 of 1 joined")')
    await look(page, 'invite-links')
    await page.press('.invite li:has-text("0 of 5 joined") button', 'Enter')
    await page.waitForSelector('.invite li:has-text("0 of 5 joined")', { state: 'detached' })
    await expect(stage.chat.invites.preview({}, { token })).rejects.toMatchObject({
      code: 'invite_revoked',
    })
    expect((await stage.chat.invites.list(ada, conversation_id)).invites.map(({ max_uses }) => max_uses)).toEqual([1])
    expect(stage.problems).toEqual([])
  })

  it('opens mailed links as screens in the language of the browser, and says what is wrong with them', async () => {
    const mailbox = createMailbox()
    const stage = await openStage(
      { mail: mailbox.deliver },
      { server: { web: true, public_url: 'http://127.0.0.1:1' } },
    )
    const { ada } = await signInAsAda(stage)
    const { chat, url, visit } = stage
    const { conversation_id } = await chat.conversations.create(ada, { title: 'Weaving' })
    const { token = '', url: made } = await chat.newcomers.invite(ada, {
      email: 'bob@example.org',
      mail: false,
      conversation_ids: [conversation_id],
    })
    expect(made).toBe(`http://127.0.0.1:1/#/welcome/${token}`)
    const { page } = await visit(`${url}/#/welcome/${token}`, { locale: 'de-DE' })
    await page.waitForSelector('h1:text-is("Chat beitreten")')
    expect(await page.inputValue('[name=email]')).toBe('bob@example.org')
    await look(page, 'welcome-de')
    await page.fill('[name=display_name]', 'Bob Noyce')
    await page.fill('[name=password]', PASSWORD)
    await page.press('[name=password]', 'Enter')
    await page.waitForSelector('#conversation-title:text-is("Weaving")')
    const { page: again } = await visit(`${url}/#/welcome/${token}`)
    await again.waitForSelector('h1:text-is("This invite doesn’t work")')

    const bob = await chat.users.find(ada, 'bob.noyce')
    const reset = await chat.users.issueReset(ada, bob.id)
    expect(reset.url).toBe(`http://127.0.0.1:1/#/reset/${reset.token}`)
    await again.goto(`${url}/#/reset/${reset.token}`)
    await again.waitForSelector('h1:text-is("Choose a new password")')
    await look(again, 'reset')
    await again.fill('[name=password]', 'incorrect pony')
    await again.press('[name=password]', 'Enter')
    await again.waitForSelector('[role=status]:text-is("Your new password is set.")')
    await again.goto(`${url}/#/reset/${reset.token.slice(1)}`)
    await again.waitForSelector('[role=alert]:has-text("It has expired, or was used already.")')
    expect(await again.locator('input').allTextContents()).toEqual([])
    await again.goto(`${url}/#/reset/${reset.token}`)
    await again.waitForSelector('[role=alert]:has-text("It has expired, or was used already.")')
    await look(again, 'reset-used')
    expect(await again.locator('input').allTextContents()).toEqual([])

    await chat.emails.sendVerification(
      await chat.users.actor(
        (await chat.users.create(ada, { username: 'eve', email: 'eve@example.org', email_verified: false })).user.id,
      ),
    )
    const mail = await mailbox.next()
    expect(mail.text).toContain(`http://127.0.0.1:1/#/verify/${mail.token}`)
    await again.goto(`${url}/#/verify/${mail.token}`)
    await again.waitForSelector('h1:text-is("Confirm your e‑mail address")')
    await again.press('button', 'Enter')
    await again.waitForSelector('[role=status]:text-is("Your e-mail address is confirmed.")')
    await again.goto(`${url}/#/undo/${'x'.repeat(43)}`)
    await again.waitForSelector('[role=alert]')
    expect(await again.locator('button').allTextContents()).toEqual([])
    let isBroken = true
    await again.route(/check-link/, (route) =>
      isBroken ? route.fulfill({ status: 500, contentType: 'application/json', body: '{}' }) : route.continue(),
    )
    await again.goto(`${url}/#/verify/${mail.token}`)
    await again.waitForSelector('[role=alert]:has-text("Something went wrong")')
    isBroken = false
    await again.click('button:text-is("Try again")')
    await again.waitForSelector('h1:text-is("This link doesn’t work")')
    expect(stage.problems.filter((each) => !each.includes('status of 500'))).toEqual([])
  })
})
