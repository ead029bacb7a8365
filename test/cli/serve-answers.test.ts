import { expect, it, onTestFinished } from 'vitest'
import { createChatClient } from '../../lib/client/index.ts'
import { createRandom } from '../fault/random.ts'
import { startUpstream } from '../fault/upstream.ts'
import { openStream, signInByHand } from '../support/stream.ts'
import { folder } from './process.ts'
import { logged, serve } from './serving.ts'

const person = { email: 'ada@example.org', password: 'correct horse battery' }

/** The time that most supervisors wait before they kill. */
const TIMEOUT_MS = 10_000

it('completes an answer after SIGTERM, interrupts a longer one, and leaves none without an end', {
  timeout: 40_000,
}, async () => {
  const upstream = await startUpstream(createRandom(1))
  onTestFinished(() => upstream.close())
  const assistant = { PROVIDER: 'openai', BASE_URL: upstream.url, MODEL: 'tiny' }
  const configured = Object.entries(assistant).map(([key, value]) => [`CHAT_ASSISTANT__${key}`, value])
  const env = {
    CHAT_SECURITY__PASSWORD__BCRYPT_COST: '4',
    CHAT_DATABASE__URL: 'sqlite:chat.db',
    ...Object.fromEntries(configured),
  }
  const cwd = folder()
  const serving = await serve({ cwd, env })
  const ada = createChatClient({ base_url: serving.url })
  await ada.setup.run(person)
  await ada.auth.login(person)
  const { conversation_id } = await ada.conversations.create()
  const { cookie } = await signInByHand(serving.url, person.email, person.password)
  const stream = await openStream(serving.url, conversation_id, { cookie })

  /** Asks the assistant, and waits until the answer has begun. */
  async function ask(content: string): Promise<string> {
    const { message_id } = await ada.messages.postRoot(conversation_id, { content, role: 'assistant' })
    await stream.until('message.delta', ({ payload }) => 'message_id' in payload && payload.message_id === message_id)
    return message_id
  }
  const [short, endless] = [await ask('stalled'), await ask('endless')]

  const asked = performance.now()
  const draining = logged(serving, 'Draining.')
  serving.child.kill('SIGTERM')
  await draining
  const { call, text } = upstream.to('stalled')!
  call.say('The end.')
  call.finish()
  expect((await serving.end).code).toBe(0)
  expect(performance.now() - asked).toBeLessThan(TIMEOUT_MS)
  await upstream.to('endless')!.call.closed

  const again = await serve({ cwd, env })
  const base_url = again.url
  const later = createChatClient({ base_url })
  await later.auth.login(person)
  const read = (message_id: string) => later.messages.get(message_id)
  expect(await read(short)).toMatchObject({ status: 'complete', finish_reason: 'stop', content: `${text}The end.` })
  const cut = await read(endless)
  expect(cut).toMatchObject({ status: 'interrupted', finish_reason: 'interrupted' })
  expect(cut.content).not.toBe('')
  expect(upstream.to('endless')!.text.startsWith(cut.content)).toBe(true)
  const chunks = await later.answers.listChunks(endless, { limit: 1000 })
  expect(chunks.map(({ content }) => content).join('')).toBe(cut.content)
  again.child.kill('SIGTERM')
  expect((await again.end).code).toBe(0)
})
