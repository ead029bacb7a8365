import { describe, expect, it } from 'vitest'
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

/** Ada in a conversation with her bot, which has two commands. */
async function openRoom() {
  const stage = await openStage({}, { bots: { enabled: true } })
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
