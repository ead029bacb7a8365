import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { CommandInvocation } from '../../lib/chat/commands/schema.ts'
import { hasBrowser, type Page } from '../support/browser.ts'
import { look, lookInModes } from './looks.ts'
import { openStage, signInAsAda } from './people.ts'

const BOX = '.conversation .composer textarea'
const NOTE = '.call-note'
const TIMEOUT = { timeout: 30_000 }

const COMMANDS = [
  { name: 'help', description: 'Shows what there is' },
  {
    name: 'deploy',
    description: 'Deploys a version',
    options: [
      { name: 'version', description: 'Which one', type: 'string' as const, required: true },
      { name: 'place', description: 'Where', type: 'string' as const, choices: ['staging', 'production'] },
    ],
  },
]

const OPTIONS = [
  { name: 'task', description: 'What to do', type: 'string' as const, required: true },
  { name: 'place', description: 'Where', type: 'string' as const, choices: ['staging', 'New York'] },
  { name: 'dry', description: 'Whether only to say it', type: 'boolean' as const },
  { name: 'owner', description: 'Who does it', type: 'user' as const },
]

/** Ada in a conversation with her bot, which has two commands. */
async function openRoom(config: object = {}) {
  const stage = await openStage({}, { bots: { enabled: true }, ...config })
  const { page, ada } = await signInAsAda(stage)
  const { chat, url } = stage
  const { bot } = await chat.bots.create(ada, { username: 'deploys', display_name: 'Deploys' })
  const program = { user_id: bot.id, roles: ['member' as const], is_bot: true as const }
  await chat.commands.setOfBot(program, bot.id, { commands: COMMANDS })
  const { conversation_id } = await chat.conversations.create(ada, { title: 'Engines' })
  await chat.participants.add(ada, conversation_id, { user_id: bot.id })
  let { position } = await chat.feed.read(program)
  /** The next call that the bot gets. */
  const nextCall = async () => {
    const page = await chat.feed.read(program, { after: position, types: 'command.invoked', wait_seconds: 10 })
    position = page.position
    return page.events[0]!.data as CommandInvocation
  }
  await page.goto(`${url}/#/c/${conversation_id}`)
  await page.waitForSelector(BOX)
  return { ...stage, page, ada, bot, program, conversation_id, nextCall }
}

const expectText = (page: Page, text: string) => expect.poll(() => page.inputValue(BOX), TIMEOUT).toBe(text)

describe.skipIf(!hasBrowser)('commands in the web chat', () => {
  it('are completed by the keys, called without a message, and wait for their bot', async () => {
    const { page, chat, program, problems, conversation_id, nextCall } = await openRoom()
    await page.click(BOX)
    await page.keyboard.type('/')
    await page.waitForSelector('.completion [role=option]:nth-child(2)')
    expect(await page.locator('.completion [role=option] .name').allTextContents()).toEqual([
      '/help',
      '/deploy version [place]',
    ])
    await page.waitForSelector('[aria-live]:has-text("2 commands, arrows choose one.")', { state: 'attached' })
    await look(page, 'commands')
    await page.keyboard.press('ArrowDown')
    await page.waitForSelector('.completion [aria-selected=true]:has-text("Deploys a version")')
    await page.keyboard.press('Escape')
    await page.waitForSelector('.completion', { state: 'detached' })
    await page.keyboard.type('dep')
    await page.fill(BOX, '')
    await page.keyboard.type('/dep')
    await page.waitForSelector('.completion [role=option]')
    await page.keyboard.press('Tab')
    await expectText(page, '/deploy ')
    await page.waitForSelector(`${NOTE}:has-text("Which one")`)

    // What is missing is said, and nothing is sent.
    await page.keyboard.press('Escape')
    await page.waitForSelector('.completion', { state: 'detached' })
    await page.keyboard.press('Enter')
    await page.waitForSelector(`${NOTE} [role=alert]:has-text("“version” is missing.")`)
    await look(page, 'command-refused')
    await page.keyboard.type('42 moon')
    await page.waitForSelector(`${NOTE} [role=alert]`, { state: 'detached' })
    await page.fill(BOX, '/deploy 42 place:moon')
    await page.keyboard.press('Enter')
    await page.waitForSelector(`${NOTE} [role=alert]:has-text("“place” is one of: staging, production.")`)
    await page.fill(BOX, '/deploy 42 place:staging')
    await page.keyboard.press('Enter')
    await expectText(page, '')
    await page.waitForSelector('.calls:has-text("Waiting for Deploys…")')
    const call = await nextCall()
    expect(call).toMatchObject({ name: 'deploy', options: { version: '42', place: 'staging' } })
    expect(await page.locator('.message').allTextContents()).toEqual([])
    await page.waitForSelector('.calls:has-text("Deploys has not answered.")')
    await look(page, 'command-unanswered')
    await chat.messages.postRoot(program, conversation_id, { content: 'Deployed.', ...idOf(call) })
    await page.waitForSelector('.message:has-text("Deployed.") .used:has-text("Ada Lovelace used /deploy")')
    await page.waitForSelector('.calls', { state: 'detached' })

    // One that is typed whole is called by Enter.
    await page.click(BOX)
    await page.keyboard.type('/help')
    await page.waitForSelector('.completion [role=option]')
    await page.keyboard.press('Enter')
    await expectText(page, '')
    expect(await nextCall()).toMatchObject({ name: 'help', options: {} })
    expect(problems).toEqual([])
  })

  it('are given their options one by one, by the keys and by the pointer', async () => {
    const { page, ada, bot, program, chat, problems, nextCall } = await openRoom()
    const offered = () => page.locator('.completion [role=option] .name').allTextContents()
    const commands = [{ name: 'plan', description: 'Plans', options: OPTIONS }]
    await chat.commands.setOfBot(program, bot.id, { commands })
    await page.click(BOX)
    await page.keyboard.type('/pl')
    await page.waitForSelector('.completion [role=option]')
    await page.keyboard.press('Enter')
    await expectText(page, '/plan ')
    await expect.poll(offered, TIMEOUT).toEqual(['task:', 'place:', 'dry:', 'owner:'])
    await page.waitForSelector('.completion [aria-selected=true]:has-text("(a text) required"):has-text("What to do")')
    await page.waitForSelector('.completion [role=option]:has-text("(staging, New York)")')
    await page.waitForSelector('[aria-live]:has-text("4 options, arrows choose one.")', { state: 'attached' })
    await look(page, 'command-options')
    await lookInModes(page, 'command-options')
    await page.keyboard.press('Enter')
    await expectText(page, '/plan task:')
    await page.waitForSelector(`${NOTE} b:text-is("task")`)
    // A name alone is no value.
    await page.keyboard.press('Enter')
    await page.waitForSelector(`${NOTE} [role=alert]:has-text("“task” is missing.")`)
    await page.keyboard.type('paint ')
    // It can be called as it is: Enter would do that, so none is chosen at first.
    await expect.poll(offered, TIMEOUT).toEqual(['staging', 'New York', 'dry:', 'owner:'])
    expect(await page.locator('.completion [aria-selected=true]').allTextContents()).toEqual([])
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    await page.waitForSelector('.completion [aria-selected=true]:has-text("New York")')
    await page.keyboard.press('Enter')
    await expectText(page, '/plan task:paint place:"New York" ')
    await page.click('.completion [role=option]:has-text("owner:")')
    await expectText(page, '/plan task:paint place:"New York" owner:')
    await page.click('.completion [role=option]:has-text("Ada Lovelace")')
    await expectText(page, '/plan task:paint place:"New York" owner:@ada ')

    // A wrong value is said once the word is whole.
    await page.keyboard.type('dry:perhaps')
    expect(await page.locator(`${NOTE} .error`).allTextContents()).toEqual([])
    await page.keyboard.type(' ')
    await page.waitForSelector(`${NOTE} [role=status]:has-text("“dry” is true or false.")`)
    await look(page, 'command-wrong')
    for (let n = 0; n < 'perhaps '.length; n++) await page.keyboard.press('Backspace')
    await page.waitForSelector('.completion [role=option]:has-text("false")')
    await page.keyboard.type('f')
    await page.keyboard.press('Tab')
    await expectText(page, '/plan task:paint place:"New York" owner:@ada dry:false ')
    await page.keyboard.press('Enter')
    await expectText(page, '')
    expect((await nextCall()).options).toEqual({ task: 'paint', place: 'New York', owner: ada.user_id, dry: false })
    expect(problems).toEqual([])
  })

  it('have no files: these stay for the next message, and go with a text that no bot has as a command', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'chat-web-files-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const { page, chat, ada, problems, conversation_id, nextCall } = await openRoom({
      attachments: { enabled: true, storage: `fs:${folder}` },
    })
    await page.setInputFiles('.conversation .composer input[type=file]', [
      { name: 'plan.txt', mimeType: 'text/plain', buffer: Buffer.from('all of it') },
    ])
    await page.waitForSelector('.draft-files li:has-text("plan.txt")')
    await page.fill(BOX, '/help')
    await page.waitForSelector('.composer [role=status]:has-text("Commands do not get files: they stay here")')
    await look(page, 'command-files')
    await page.press(BOX, 'Enter')
    await expectText(page, '')
    expect(await nextCall()).toMatchObject({ name: 'help', options: {} })
    await page.waitForSelector('.draft-files li:has-text("plan.txt")')
    expect(await page.locator('.message').allTextContents()).toEqual([])

    await page.fill(BOX, '/shrug well')
    await page.press(BOX, 'Enter')
    await page.waitForSelector(`${NOTE}[role=alert]:has-text("No bot here has the command /shrug.")`)
    await page.waitForSelector('.composer [role=status]:has-text("Commands do not get files")', { state: 'detached' })
    await page.press(BOX, 'Enter')
    await page.waitForSelector('.message:has-text("/shrug well"):has-text("plan.txt")')
    await page.waitForSelector('.draft-files', { state: 'detached' })
    const { messages } = await chat.messages.list(ada, conversation_id)
    expect(messages.map(({ attachments }) => attachments?.map(({ name }) => name))).toEqual([['plan.txt']])
    expect(problems).toEqual([])
  })

  it('that no bot has are sent as a message once the user knows', async () => {
    const { page, problems } = await openRoom()
    await page.fill(BOX, '/shrug well')
    await page.press(BOX, 'Enter')
    await page.waitForSelector(`${NOTE}[role=alert]:has-text("No bot here has the command /shrug.")`)
    expect(await page.locator('.message').allTextContents()).toEqual([])
    await page.press(BOX, 'Enter')
    await page.waitForSelector('.message:has-text("/shrug well")')
    await page.fill(BOX, '/etc/hosts is a file')
    await page.press(BOX, 'Enter')
    await page.waitForSelector('.message:has-text("/etc/hosts is a file")')
    expect(problems).toEqual([])
  })

  it('are answered by notices for one person, in their place until they are dismissed', async () => {
    const { page, ada, chat, program, problems, conversation_id, nextCall } = await openRoom()
    await chat.messages.postRoot(ada, conversation_id, { content: 'Before' })
    await page.fill(BOX, '/help')
    await page.press(BOX, 'Enter')
    const call = await nextCall()
    const content = 'There is **deploy**.'
    await chat.notices.create(program, conversation_id, { user_id: ada.user_id, content, ...idOf(call) })
    await page.waitForSelector('.notice:has-text("Only you see this") strong:has-text("deploy")')
    await page.waitForSelector('.notice .used:has-text("Ada Lovelace used /help")')
    await page.waitForSelector('.calls', { state: 'detached' })
    await chat.messages.postRoot(ada, conversation_id, { content: 'After' })
    await page.waitForSelector('.message:has-text("After")')
    const order = () => page.locator('.stream article .markdown').allTextContents()
    await expect.poll(order, TIMEOUT).toEqual(['Before', 'There is deploy.', 'After'])
    await look(page, 'notice')
    await lookInModes(page, 'notice')
    await page.reload()
    await page.waitForSelector('.notice')
    await expect.poll(order, TIMEOUT).toEqual(['Before', 'There is deploy.', 'After'])
    await page.click('.notice button:text("Dismiss")')
    await page.waitForSelector('.notice', { state: 'detached' })
    expect((await chat.notices.list(ada, conversation_id)).notices).toEqual([])
    expect(problems).toEqual([])
  })
})

const idOf = ({ invocation_id }: CommandInvocation) => ({ invocation_id })
