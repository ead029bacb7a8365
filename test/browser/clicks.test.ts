import { describe, expect, it } from 'vitest'
import { sql } from '../../lib/storage/sql.ts'
import { createPuppet } from '../support/assistant.ts'
import { hasBrowser, type Page } from '../support/browser.ts'
import { innerState } from '../support/service.ts'
import { openStage, PASSWORD } from './people.ts'
import { openTalk, type Talk } from './talk.ts'

/** What an act takes of the user, besides typing. */
interface Cost {
  clicks?: number
  keys?: string[]
}

/** Counts what the user does: not what a script does, and no text. */
const COUNT = `
  window.cost = { clicks: 0, keys: [] }
  addEventListener('pointerdown', (event) => { if (event.isTrusted) cost.clicks++ }, { capture: true })
  addEventListener('keydown', ({ key, ctrlKey, shiftKey, isTrusted }) => {
    if (!isTrusted || ['Control', 'Shift'].includes(key) || (key.length === 1 && !ctrlKey)) return
    cost.keys.push((ctrlKey ? 'Control+' : '') + (shiftKey ? 'Shift+' : '') + key)
  }, { capture: true })
`

/** Fails if the act takes anything else of the user. */
async function costs(page: Page, { clicks = 0, keys = [] }: Cost, act: () => Promise<unknown>): Promise<void> {
  await page.evaluate('Object.assign(cost, { clicks: 0, keys: [] })')
  await act()
  expect(await page.evaluate('cost')).toEqual({ clicks, keys })
}

/** Writes with the keys in the box of a place, which has the focus. */
async function type(page: Page, box: string, text: string): Promise<void> {
  await page.waitForSelector(`textarea[aria-label="${box}"]:focus`)
  await page.keyboard.type(text)
}

const seen = (page: Page, text: string) => page.waitForSelector(`.message:not([data-pending]):has-text("${text}")`)

/** Fills the form of a newcomer in. */
async function fillIn(page: Page, name: string): Promise<void> {
  await page.fill('[name=display_name]', name)
  await page.fill('[name=email]', `${name.toLowerCase()}@example.org`)
  await page.fill('[name=password]', PASSWORD)
}

/** Ada at her page, with Grace in a room, who has asked whether it runs. */
async function openDesk(ports = {}, change: (talk: Talk) => Promise<unknown> = async () => {}) {
  const stage = await openStage(ports)
  const talk = await openTalk(stage.url)
  const { grace, conversation_id } = talk
  await grace.auth.changeProfile({ username: 'grace', display_name: 'Grace Hopper' })
  await grace.messages.postRoot(conversation_id, { content: 'Does it run?' })
  await change(talk)
  const { page } = await stage.visit(stage.url)
  await page.evaluate(COUNT)
  await talk.signIn(page, 'ada')
  return { ...stage, ...talk, page }
}

const ROOM = '.conversations [data-row]:has-text("Engines")'

describe.skipIf(!hasBrowser)('what the user has to click', () => {
  it('is the button of a form until the first message', async () => {
    const stage = await openStage({})
    const { page } = await stage.visit(stage.url)
    await page.evaluate(COUNT)
    await costs(page, { clicks: 1, keys: ['Enter'] }, async () => {
      await fillIn(page, 'Ada')
      await page.click('button[type=submit]')
      await type(page, 'Message General', 'Welcome')
      await page.keyboard.press('Enter')
      await seen(page, 'Welcome')
    })
    expect(stage.problems).toEqual([])
  })

  it('is one button for a link for all, and the button of a form to be in the box of their room', async () => {
    const stage = await openStage({})
    const { page } = await stage.visit(stage.url, { permissions: ['clipboard-read', 'clipboard-write'] })
    await page.evaluate(COUNT)
    await fillIn(page, 'Ada')
    await page.click('button[type=submit]')
    await page.waitForSelector('.greeting')
    await costs(page, { clicks: 1 }, async () => {
      await page.click('button:text-is("Copy invite link")')
      await page.waitForSelector('.greeting small:has-text("25 people can join with it")')
    })
    const { page: graces } = await stage.visit((await page.evaluate('navigator.clipboard.readText()')) as string)
    await graces.evaluate(COUNT)
    await costs(graces, { clicks: 1 }, async () => {
      await fillIn(graces, 'Grace')
      await graces.click('button[type=submit]')
      await graces.waitForSelector('textarea[aria-label="Message General"]:focus')
    })
    expect(stage.problems).toEqual([])
  })

  it('is one row to post in another room, and next to nothing for what is done with a message', async () => {
    const { page, grace, ada, conversation_id, problems } = await openDesk({}, async ({ ada, grace }) => {
      const { user } = await ada.auth.me()
      const { conversation } = await grace.conversations.direct({ user_id: user.id })
      await grace.messages.postRoot(conversation.id, { content: 'Are you there?' })
    })
    await costs(page, { clicks: 1, keys: ['Enter'] }, async () => {
      await page.click(`${ROOM} a`)
      await type(page, 'Message Engines', 'It does')
      await page.keyboard.press('Enter')
      await seen(page, 'It does')
    })
    await costs(page, { clicks: 1, keys: ['Enter'] }, async () => {
      await page.hover('.message:has-text("Does it run?")')
      await page.click('.message:has-text("Does it run?") .at-hand [aria-label=Reply]')
      await type(page, 'Message Engines', 'Very well')
      await page.keyboard.press('Enter')
      await seen(page, 'Very well')
      await page.waitForSelector('.message:has-text("Very well") .quote:has-text("Does it run?")')
    })
    await costs(page, { keys: ['ArrowUp', 'Enter'] }, async () => {
      await page.waitForSelector('textarea[aria-label="Message Engines"]:focus')
      await page.keyboard.press('ArrowUp')
      await page.waitForSelector('.edit textarea:focus')
      await page.keyboard.type(' indeed')
      await page.keyboard.press('Enter')
      await seen(page, 'Very well indeed')
    })
    await costs(page, { clicks: 2 }, async () => {
      await page.hover('.message:has-text("Does it run?")')
      await page.click('.message:has-text("Does it run?") .at-hand [aria-label=React]')
      await page.click('.panel .emoji button >> nth=0')
      await page.waitForSelector('.message:has-text("Does it run?") .reaction[aria-pressed=true]')
    })
    await costs(page, { clicks: 1, keys: ['Enter'] }, async () => {
      await page.hover('.message:has-text("Does it run?")')
      await page.click('.message:has-text("Does it run?") .at-hand [aria-label="Reply in thread"]')
      await type(page, 'Reply', 'Since noon')
      await page.keyboard.press('Enter')
      await page.waitForSelector('.thread .message:not([data-pending]):has-text("Since noon")')
    })
    await costs(page, { clicks: 1, keys: ['Enter'] }, async () => {
      await page.click('.conversations a:has-text("Grace Hopper")')
      await type(page, 'Message Grace Hopper', 'I am')
      await page.keyboard.press('Enter')
      await seen(page, 'I am')
    })
    for (const by of ['clicks', 'keys']) {
      await grace.messages.postRoot(conversation_id, { content: 'And now, @ada?' })
      await page.waitForSelector('.inbox-button .badge')
      await costs(page, by === 'keys' ? { keys: ['Shift+Escape'] } : { clicks: 2 }, async () => {
        if (by === 'keys') await page.keyboard.press('Shift+Escape')
        else {
          await page.click('.inbox-button')
          await page.click('button:text-is("Mark all read")')
        }
        await page.waitForSelector('.inbox-button .badge', { state: 'detached' })
      })
      expect((await ada.notifications.list({ unread: true })).notifications).toEqual([])
    }
    expect(problems).toEqual([])
  }, 120_000)

  it('is at most four times for a mute, a photo, a room of two, another layout; a person is found by keys alone', async () => {
    const { page, chat, ada, conversation_id, problems } = await openDesk()
    await costs(page, { keys: ['Control+k', 'Enter', 'Enter'] }, async () => {
      await page.keyboard.press('Control+k')
      await page.waitForSelector('[role=combobox]:focus')
      await page.keyboard.type('hop')
      await page.waitForSelector('[role=option][aria-selected=true]:has-text("Grace Hopper")')
      await page.keyboard.press('Enter')
      await type(page, 'Message Grace Hopper', 'Hello')
      await page.keyboard.press('Enter')
      await seen(page, 'Hello')
    })
    await costs(page, { clicks: 3 }, async () => {
      await page.hover(`${ROOM} a`)
      await page.click(`${ROOM} .row-menu button`)
      await page.click('.panel button:text-is("Mute")')
      await page.click('.panel button:text-is("8 hours")')
      await page.waitForSelector(`${ROOM} a[data-muted=true]`)
    })
    await costs(page, { clicks: 4, keys: ['Enter'] }, async () => {
      await page.click('.section-head:has-text("Rooms") [aria-label="New room"]')
      await page.waitForSelector('dialog [name=title]:focus')
      await page.keyboard.type('Weaving')
      await page.keyboard.press('Enter')
      await page.waitForSelector('textarea[aria-label="Message Weaving"]:focus')
      await page.click('.people-button')
      await page.click('.details [name=who]')
      await page.keyboard.type('hop')
      await page.click('.details .choices button:has-text("Grace Hopper")')
      await page.waitForSelector('.participants li:has-text("Grace Hopper")')
    })
    const rooms = (await ada.conversations.list({})).conversations
    expect(rooms.find(({ title }) => title === 'Weaving')!.participant_count).toBe(2)

    // The browser asks for the file.
    const photo = Buffer.from(
      (await page.evaluate(`(() => {
        const canvas = Object.assign(document.createElement('canvas'), { width: 40, height: 40 })
        canvas.getContext('2d').fillRect(0, 0, 40, 40)
        return canvas.toDataURL('image/png').split(',')[1]
      })()`)) as string,
      'base64',
    )
    await costs(page, { clicks: 4 }, async () => {
      await page.click('.sidebar > header .menu > button')
      await page.click('.sidebar > header .panel a >> nth=0')
      await page.click('button:text-is("Add a photo")')
      await page.setInputFiles('.own-photo input', [{ name: 'ada.png', mimeType: 'image/png', buffer: photo }])
      await page.click('dialog button:text-is("Save")')
      await page.waitForSelector('.sidebar > header .avatar img')
    })

    await innerState(chat).db.write((tx) =>
      tx.run(sql`UPDATE conversations SET layout = NULL WHERE id = ${conversation_id}`),
    )
    await page.reload()
    await page.evaluate(COUNT)
    await page.click(`${ROOM} a`)
    await costs(page, { clicks: 1 }, async () => {
      await page.click('button:text-is("Show as a stream")')
      await page.waitForSelector('.conversation .stream[data-open=true]')
    })
    expect(problems).toEqual([])
  }, 120_000)

  it('is nothing to ask the assistant, and once to go on or to stop it', async () => {
    const puppet = createPuppet()
    const { page, problems } = await openDesk({ assistant: puppet.assistant })
    await page.click(`${ROOM} a`)
    await costs(page, { keys: ['Enter', 'Enter'] }, async () => {
      await type(page, 'Message Engines', '@')
      await page.waitForSelector('[role=option][aria-selected=true]:has-text("Assistant")')
      await page.keyboard.press('Enter')
      await page.waitForSelector('.composer[data-asks=true] textarea:focus')
      await page.keyboard.type('Why?')
      await page.keyboard.press('Enter')
      const answer = await puppet.asked()
      expect(answer.request.turns.at(-1)!.content).toBe('Ada Lovelace: Why?')
      answer.say('By steam.')
      answer.end()
      await seen(page, 'By steam.')
    })
    await costs(page, { clicks: 1, keys: ['Enter'] }, async () => {
      await page.hover('.message[data-role=assistant]')
      await page.click('.message[data-role=assistant] .at-hand [aria-label="Reply in thread"]')
      await type(page, 'Reply', 'Is it hot?')
      await page.keyboard.press('Enter')
    })
    const answer = await puppet.asked()
    expect(answer.request.turns.at(-1)!.content).toBe('Is it hot?')
    answer.say('Very')
    await costs(page, { clicks: 1 }, async () => {
      await page.click('.thread .composer [aria-label=Stop]')
      await answer.aborted
    })
    expect(problems).toEqual([])
  })
})
