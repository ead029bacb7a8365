import { describe, expect, it } from 'vitest'
import type { Actor, Chat } from '../../lib/index.ts'
import { hasBrowser } from '../support/browser.ts'
import { look, lookInModes } from './looks.ts'
import { openDetails, openStage, PASSWORD, signInAsAda } from './people.ts'

async function makeGrace(chat: Chat, ada: Actor): Promise<Actor> {
  const { user } = await chat.users.create(ada, {
    email: 'grace@example.org',
    username: 'grace',
    password: PASSWORD,
    roles: ['admin', 'member'],
  })
  return chat.users.actor(user.id)
}

describe.skipIf(!hasBrowser)('public rooms and rules of rooms', () => {
  it('are found by their title, and joined', async () => {
    const stage = await openStage({})
    const { page, ada } = await signInAsAda(stage)
    const { chat, url, problems } = stage
    const grace = await makeGrace(stage.chat, ada)
    const shown = { visibility: 'listed' } as const
    await chat.conversations.create(grace, {
      title: 'Steam engines',
      topic: 'All of them',
      ...shown,
      policy: { join: 'anyone' },
    })
    await chat.conversations.create(grace, { title: 'Board', ...shown })
    await chat.conversations.create(grace, { title: 'Hidden' })
    await page.click('.sidebar .empty a:has-text("Browse rooms")')
    await page.waitForSelector('.browse li:nth-child(2)')
    expect(await page.locator('.browse .name').allTextContents()).toEqual([
      '# Board1 person',
      '# Steam enginesAll of them1 person',
    ])
    await page.waitForSelector('.browse li:has-text("Board"):has-text("By invite")')
    await lookInModes(page, 'browse')
    await page.fill('.settings [type=search]', 'engi')
    await page.waitForSelector('.browse:not(:has(li:nth-child(2))) button')
    await page.press('.browse button', 'Enter')
    await page.waitForSelector('.conversation h2:text-is("Steam engines")')
    await page.waitForSelector('.conversation .composer textarea')
    await page.waitForSelector('.conversations a:has-text("Steam engines")')
    await page.goto(`${url}/#/browse`)
    await page.waitForSelector('.browse li:has-text("Steam engines") a:has-text("Joined")')
    await page.fill('.settings [type=search]', 'hidden')
    await page.waitForSelector('.settings p:text-is("No rooms with that name.")')
    await page.click('.section-head button[aria-label="New room"]')
    await page.click('dialog a:has-text("Browse rooms")')
    await page.waitForSelector('dialog', { state: 'detached' })
    expect(problems).toEqual([])
  }, 120_000)

  it('are set in the details, and the box says why it is closed', async () => {
    const stage = await openStage({})
    const { page, ada } = await signInAsAda(stage)
    const { chat, url, problems } = stage
    const grace = await makeGrace(stage.chat, ada)
    const { conversation_id } = await chat.conversations.create(grace, { title: 'Engines' })
    await chat.participants.add(grace, conversation_id, { user_id: ada.user_id, role: 'owner' })
    const { root_id } = await chat.messages.postRoot(grace, conversation_id, { content: 'Does it run?' })
    await page.goto(`${url}/#/c/${conversation_id}`)
    await openDetails(page, 'Policies')
    await page.selectOption('.policies select >> nth=0', 'listed')
    await page.click('.policies label:has-text("Everybody may join") input')
    await page.selectOption('.policies label:text-is("Who posts") + select', 'admins')
    await page.selectOption('.policies label:text-is("Who replies") + select', 'nobody')
    await expect
      .poll(async () => await chat.conversations.get(ada, conversation_id))
      .toMatchObject({ visibility: 'listed', policy: { join: 'anyone', post: 'admins', reply: 'nobody' } })
    await lookInModes(page, 'policies')
    await chat.participants.changeRole(grace, conversation_id, ada.user_id, { role: 'member' })
    await page.waitForSelector('.conversation .closed:text-is("Only admins post here.")')
    await page.waitForSelector('.details .tabs a:text-is("Policies")', { state: 'detached' })
    await page.goto(`${url}/#/c/${conversation_id}/t/${root_id}`)
    await page.waitForSelector('.thread .closed:text-is("Nobody replies here.")')
    await page.hover('.conversation .message')
    expect(await page.locator('.conversation .message .at-hand button[aria-label="Reply"]').allTextContents()).toEqual(
      [],
    )
    await look(page, 'closed')
    await chat.conversations.rename(grace, conversation_id, { frozen: true })
    await page.waitForSelector('.thread .closed:text-is("This room is frozen: nothing is written here for now.")')
    await chat.participants.changeRole(grace, conversation_id, ada.user_id, { role: 'owner' }).catch(() => {})
    await chat.conversations.rename(grace, conversation_id, { frozen: false, policy: { post: null, reply: null } })
    await page.waitForSelector('.thread .composer textarea')
    expect(problems).toEqual([])
  }, 120_000)

  it('that are open are read before one joins, and nothing is marked in them', async () => {
    const stage = await openStage({})
    const { page, ada } = await signInAsAda(stage)
    const { chat, url, problems } = stage
    const grace = await makeGrace(stage.chat, ada)
    const { conversation_id } = await chat.conversations.create(grace, {
      title: 'Steam engines',
      visibility: 'open',
      policy: { join: 'anyone' },
    })
    const { root_id } = await chat.messages.postRoot(grace, conversation_id, { content: 'Does it run?' })
    await chat.messages.reply(grace, root_id, { content: 'It runs' })
    await page.goto(`${url}/#/browse`)
    await look(page, 'browse-open')
    await page.click('.browse a:has-text("Look inside")')
    await page.waitForSelector('.conversation .message:has-text("Does it run?")')
    await page.waitForSelector('.join-bar:has-text("You read this room without being in it. Join to write.")')
    await lookInModes(page, 'room-outside')
    expect(await page.locator('.conversation .composer').allTextContents()).toEqual([])
    await chat.messages.postRoot(grace, conversation_id, { content: 'While somebody looks' })
    await page.waitForSelector('.conversation .message:has-text("While somebody looks")')
    const { user: alan } = await chat.users.create(ada, {
      email: 'alan@example.org',
      username: 'alan',
      password: PASSWORD,
    })
    await chat.participants.add(grace, conversation_id, { user_id: alan.id, role: 'member' })
    await page.waitForSelector('.conversation .hidden:text-is("2 people")', { state: 'attached' })
    await page.hover('.message:has-text("Does it run?")')
    await page.click('.message:has-text("Does it run?") [aria-label="More"]')
    expect(await page.locator('.message .panel button').allTextContents()).toEqual([
      'Open thread',
      'Copy text',
      'Select text',
      'Copy link',
      'Profile',
    ])
    await page.press('body', 'Escape')
    await page.click('.conversation .thread-line')
    await page.waitForSelector('.thread .message:has-text("It runs")')
    await page.waitForSelector('.thread .join-bar')
    await openDetails(page, 'About')
    expect(await page.locator('.details .tabs a').allTextContents()).toEqual(['About', 'People', 'Pins'])
    expect(await page.locator('.details button').allTextContents()).toEqual([])
    await page.goto(`${url}/#/c/${conversation_id}`)
    await page.click('.conversation .join-bar button')
    await page.waitForSelector('.conversation .composer textarea:focus')
    await page.waitForSelector('.conversations a:has-text("Steam engines")')
    await page.fill('.conversation .composer textarea', 'Here I am')
    await page.press('.conversation .composer textarea', 'Enter')
    await page.waitForSelector('.conversation .message:has-text("Here I am")')
    expect(problems).toEqual([])
  }, 120_000)

  it('are frozen and thawed by an owner', async () => {
    const stage = await openStage({})
    const { page, ada } = await signInAsAda(stage)
    const { chat, url, problems } = stage
    const { conversation_id } = await chat.conversations.create(ada, { title: 'Engines' })
    await page.goto(`${url}/#/c/${conversation_id}/details/policies`)
    await page.press('.policies button:has-text("Freeze")', 'Enter')
    await page.waitForSelector('.policies button:text-is("Unfreeze")')
    await page.waitForSelector('.conversation .closed')
    expect(await page.locator('.policies select:not([disabled])').allTextContents()).toEqual([])
    await page.click('.policies button:text-is("Unfreeze")')
    await page.waitForSelector('.conversation .composer textarea')
    expect((await chat.conversations.get(ada, conversation_id)).frozen_at).toBeUndefined()
    expect(problems).toEqual([])
  })

  it('a guest signs in, and keeps the conversation', async () => {
    const config = { guests: { enabled: true, contacts: ['ada'] } }
    const stage = await openStage({}, config)
    const { user } = await stage.chat.setup.run({ email: 'ada@example.org', password: PASSWORD, display_name: 'Ada' })
    const ada = await stage.chat.users.actor(user.id)
    await makeGrace(stage.chat, ada)
    const { page } = await stage.visit(stage.url)
    await page.evaluate(
      `fetch('/api/guests', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"display_name":"Visitor"}' })`,
    )
    await page.goto(`${stage.url}/?again`)
    await page.click('.conversations a:has-text("Visitor")')
    expect(await page.locator('.section-head button[aria-label^="New"]').allTextContents()).toEqual([])
    await page.fill('.conversation .composer textarea', 'My order is lost')
    await page.press('.conversation .composer textarea', 'Enter')
    await page.waitForSelector('.conversation .message:has-text("My order is lost")')
    await page.waitForSelector('.conversation .message:has-text("My order is lost") .tag:text-is("Guest")')
    await look(page, 'guest')
    await openDetails(page, 'People')
    await page.waitForSelector('.details .participants li:has-text("Visitor") .tag:text-is("Guest")')
    await look(page, 'guest-in-details')
    await page.press('.details h2', 'Escape')
    await page.click('.banners button:text-is("Sign in to keep this")')
    await page.fill('dialog [name=email]', 'grace@example.org')
    await page.fill('dialog [name=password]', PASSWORD)
    await page.press('dialog [name=password]', 'Enter')
    await page.waitForSelector('.banners button:text-is("Sign in to keep this")', { state: 'detached' })
    await page.waitForSelector('.conversation .message:has-text("My order is lost"):not(:has(.tag))')
    await page.waitForSelector('.section-head button[aria-label="New room"]')
    await page.waitForSelector('.conversation .composer textarea')
    expect(stage.problems).toEqual([])
  }, 120_000)
})
