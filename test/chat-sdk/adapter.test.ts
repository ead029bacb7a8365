import { emoji, type Message, type Thread } from 'chat'
import { expect, it, vi } from 'vitest'
import { describeService } from '../support/describe-service.ts'
import { pulling, startBot, startPlace, textsOf } from './bots.ts'

/** The next value that a handler was called with. */
function next<T>(): { take: (value: T) => void; value: Promise<T> } {
  let take: (value: T) => void = () => {}
  const value = new Promise<T>((resolve) => {
    take = resolve
  })
  return { take, value }
}

describeService('a bot of the Chat SDK that pulls', { config: { attachments: { enabled: true } } }, (service) => {
  it('is mentioned, replies in the thread, follows it, and does not hear itself', async () => {
    const place = await startPlace(service)
    const { ada, grace, bot: user, conversation_id } = place
    const program = await startBot(place)
    const [mentioned, followed] = [next<Message>(), next<Message>()]
    const heard: string[] = []
    program.bot.onNewMention(async (thread, message) => {
      heard.push(message.text)
      await thread.subscribe()
      await thread.post(`Hello ${thread.mentionUser(message.author.userId)}, {{emoji:thumbs_up}} **well**`)
      mentioned.take(message)
    })
    program.bot.onSubscribedMessage(async (thread, message) => {
      heard.push(message.text)
      await thread.reply(message, 'Yes.')
      followed.take(message)
    })
    await pulling(program, place)
    await ada.messages.postRoot(conversation_id, { content: 'To nobody' })
    const { root_id } = await grace.messages.postRoot(conversation_id, { content: `**Dear** @${user.username}` })
    const first = await mentioned.value
    expect(first).toMatchObject({
      isMention: true,
      text: `Dear @${user.username}`,
      threadId: `chatserver:${conversation_id}:${root_id}`,
    })
    expect(first.author).toMatchObject({ userId: grace.id, userName: 'grace', isBot: false, isMe: false })
    expect(first.raw).toMatchObject({ id: root_id, content: `**Dear** @${user.username}` })
    const { message_id } = await ada.messages.reply(root_id, { content: 'Really?' })
    expect((await followed.value).id).toBe(message_id)
    const texts = [`**Dear** @${user.username}`, 'Hello @grace, 👍 **well**', 'Really?', 'Yes.']
    await expect.poll(() => textsOf(ada, root_id)).toEqual(texts)
    const { messages } = await ada.threads.messages(root_id)
    expect(messages.at(-1)).toMatchObject({ parent_id: message_id, author_user_id: user.id })
    expect(messages[0]!.mentions?.user_ids).toEqual([grace.id])
    expect(heard).toEqual([`Dear @${user.username}`, 'Really?'])
  })

  it('hears of edits, deletions, reactions and new participants, and edits, deletes and reacts itself', async () => {
    const place = await startPlace(service)
    const { ada, grace, eve, conversation_id, root } = place
    const program = await startBot(place)
    const heard: unknown[] = []
    program.bot.onMessageUpdated(
      (_thread, message) => void heard.push(['edited', message.text, message.metadata.edited]),
    )
    program.bot.onMessageDeleted(({ messageId, threadId }) => void heard.push(['deleted', messageId, threadId]))
    program.bot.onReaction(
      [emoji.heart],
      ({ added, user, rawEmoji }) => void heard.push([added, user.userName, rawEmoji]),
    )
    program.bot.onMemberJoinedChannel(({ userId, channelId }) => void heard.push(['joined', userId, channelId]))
    await pulling(program, place)
    const { message_id } = await grace.messages.reply(root.root_id, { content: 'Seven' })
    await grace.messages.edit(message_id, { content: 'Eight' })
    await ada.reactions.add(message_id, '❤️')
    await ada.reactions.remove(message_id, '❤️')
    await ada.participants.add(conversation_id, { user_id: eve.id })
    await grace.messages.remove(message_id)
    const channel = `chatserver:${conversation_id}`
    await expect
      .poll(() => heard)
      .toEqual([
        ['edited', 'Eight', true],
        [true, 'ada', '❤️'],
        [false, 'ada', '❤️'],
        ['joined', eve.id, channel],
        ['deleted', message_id, `${channel}:${root.root_id}`],
      ])

    const sent = await program.bot.channel(channel).post({ markdown: '- one\n- two' })
    expect(await ada.messages.get(sent.id)).toMatchObject({ content: '- one\n- two', depth: 0 })
    await sent.edit('three')
    await sent.addReaction(emoji.rocket)
    const changed = await ada.messages.get(sent.id)
    expect(changed).toMatchObject({ content: 'three', reactions: [{ emoji: '🚀', count: 1 }] })
    await sent.removeReaction(emoji.rocket)
    expect((await ada.messages.get(sent.id)).reactions).toBeUndefined()
    await sent.delete()
    expect((await ada.messages.get(sent.id)).deleted_at).toBeDefined()
  })

  it('streams an answer, which a participant stops with its model', async () => {
    const place = await startPlace(service)
    const { grace, bot: user, conversation_id } = place
    const program = await startBot(place)
    const stopped = next<string>()
    program.bot.onNewMention(async (thread, message) => {
      if (message.text.startsWith('Short')) {
        async function* pieces() {
          yield 'It '
          yield { type: 'task_update' as const, id: 't', title: 'Looking', status: 'complete' as const }
          yield { type: 'markdown_text' as const, text: 'runs.' }
        }
        await thread.post(pieces())
      }
      if (message.text.startsWith('Long')) {
        async function* endless(signal: AbortSignal) {
          yield 'It goes on'
          await new Promise((resolve) => signal.addEventListener('abort', resolve))
          stopped.take('stopped')
        }
        await thread.post(endless(thread.signal)).catch(() => {})
      }
      if (message.text.startsWith('Broken')) {
        async function* broken() {
          yield 'It '
          throw new Error('no model')
        }
        await thread.post(broken()).catch(() => {})
      }
    })
    await pulling(program, place)
    const short = await grace.messages.postRoot(conversation_id, { content: `Short @${user.username}` })
    const endOf = async (root_id: string) => {
      const [answer] = (await grace.threads.messages(root_id)).messages
      return [answer?.content, answer?.status, answer?.requested_by]
    }
    await expect.poll(() => endOf(short.root_id)).toEqual(['It runs.', 'complete', grace.id])

    const long = await grace.messages.postRoot(conversation_id, { content: `Long @${user.username}` })
    await expect.poll(() => endOf(long.root_id)).toEqual(['It goes on', 'streaming', grace.id])
    await grace.answers.cancel((await grace.threads.messages(long.root_id)).messages[0]!.id)
    expect(await stopped.value).toBe('stopped')
    expect((await endOf(long.root_id))[1]).toBe('cancelled')

    const broken = await grace.messages.postRoot(conversation_id, { content: `Broken @${user.username}` })
    await expect.poll(() => endOf(broken.root_id)).toEqual(['It ', 'failed', grace.id])
  })

  it('answers a command in its thread, with a stream and a notice', async () => {
    const place = await startPlace(service)
    const { ada, grace, bot: user, client, conversation_id, root } = place
    await client.commands.setOfBot(user.id, {
      commands: [
        {
          name: 'deploy',
          description: 'Deploys',
          options: [{ name: 'version', description: 'Which', type: 'string' }],
        },
      ],
    })
    const program = await startBot(place)
    program.bot.onSlashCommand('/deploy', async (event) => {
      await event.channel.post(`Deploying ${event.text}`)
      async function* pieces() {
        yield 'Do'
        yield 'ne.'
      }
      await program.bot.thread(event.channel.id).post(pieces())
      await event.channel.postEphemeral(event.user, 'It was you.', { fallbackToDM: false })
      await program.bot.channel(event.channel.id).startTyping()
    })
    await pulling(program, place)
    const { invocation_id } = await grace.commands.invoke(conversation_id, {
      ...{ bot_id: user.id, name: 'deploy', options: { version: '42' }, root_id: root.root_id },
    })
    const invocation = { user_id: grace.id, name: 'deploy' }
    await expect
      .poll(async () => (await grace.notices.list(conversation_id)).notices)
      .toMatchObject([{ content: 'It was you.', root_id: root.root_id, invocation }])
    expect((await ada.notices.list(conversation_id)).notices).toEqual([])
    const { messages } = await ada.threads.messages(root.root_id)
    expect(messages).toMatchObject([
      { content: 'Deploying 42', invocation },
      { content: 'Done.', invocation, status: 'complete' },
    ])
    expect(invocation_id).toBeDefined()
    // Outside of the handler, a post answers no command.
    const sent = await program.bot.channel(`chatserver:${conversation_id}`).post('Later')
    const later = await ada.messages.get(sent.id)
    expect([later.invocation, later.depth]).toEqual([undefined, 0])
  })

  it('talks in a direct conversation, beside what it answers, or in a thread', async () => {
    const place = await startPlace(service)
    const { grace, bot: user } = place
    const program = await startBot(place)
    program.bot.onDirectMessage(async (thread: Thread, message) => void (await thread.post(`You said ${message.text}`)))
    await pulling(program, place)
    const thread = program.bot.thread(await program.adapter.openDM!(grace.id))
    expect(thread.isDM).toBe(true)
    await thread.post('Hello')
    const { conversation_id } = await grace.conversations.direct({ user_id: user.id })
    const { root_id } = await grace.messages.postRoot(conversation_id, { content: 'one' })
    const roots = async () =>
      (await grace.messages.list(conversation_id, { view: 'roots' })).messages.map(({ content }) => content)
    await expect.poll(roots).toEqual(['Hello', 'one', 'You said one'])
    const { message_id } = await grace.messages.reply(root_id, { content: 'two' })
    await expect.poll(() => textsOf(grace, root_id)).toEqual(['one', 'two', 'You said two'])
    const parsed = async (id: string) => program.adapter.parseMessage(await grace.messages.get(id)).threadId
    expect([await parsed(root_id), await parsed(message_id)]).toEqual([thread.id, `${thread.id}:${root_id}`])
    const { messages } = await program.adapter.fetchMessages(thread.id, { direction: 'forward', limit: 2 })
    expect(messages.map(({ text }) => text)).toContain('Hello')
  })

  it('reads files and sends some', async () => {
    const place = await startPlace(service)
    const { ada, bot: user, conversation_id } = place
    const program = await startBot(place)
    const received = next<Message>()
    program.bot.onNewMention((_thread, message) => received.take(message))
    await pulling(program, place)
    const file = await ada.upload(conversation_id, new File(['It runs.'], 'engine.txt', { type: 'text/plain' }))
    await ada.messages.postRoot(conversation_id, { content: `@${user.username}`, attachment_ids: [file.id] })
    const { attachments, threadId } = await received.value
    expect(attachments).toMatchObject([
      { type: 'file', name: 'engine.txt', size: 8, fetchMetadata: { attachment_id: file.id } },
    ])
    const rehydrated = program.adapter.rehydrateAttachment!({
      type: 'file',
      fetchMetadata: attachments[0]!.fetchMetadata!,
    })
    for (const attachment of [attachments[0]!, rehydrated])
      expect(Buffer.from((await attachment.fetchData!()) as ArrayBuffer).toString()).toBe('It runs.')
    const sent = await program.bot.thread(threadId).post({
      ...{ markdown: 'Two files', files: [{ data: Buffer.from('a,b'), filename: 'a.csv', mimeType: 'text/csv' }] },
      attachments: [{ type: 'file', name: 'b.txt', fetchData: async () => Buffer.from('b') }],
    })
    expect((await ada.messages.get(sent.id)).attachments).toMatchObject([{ name: 'a.csv' }, { name: 'b.txt' }])
    const missing = { markdown: 'None', attachments: [{ type: 'file' as const, name: 'c' }] }
    await expect(program.bot.thread(threadId).post(missing)).rejects.toThrow('"c" has neither data nor fetchData')
  })

  it('reads what was written, from both ends, and who is there', async () => {
    const place = await startPlace(service)
    const { ada, grace, conversation_id, root } = place
    const { adapter } = await startBot(place)
    const replies = Array.from({ length: 5 }, (_, n) => `reply ${n}`)
    for (const content of replies) await grace.messages.reply(root.root_id, { content })
    const { message_id } = await ada.messages.postRoot(conversation_id, { content: 'second' })
    const thread = adapter.encodeThreadId({ conversation_id, root_id: root.root_id })
    const read = async (direction: 'forward' | 'backward') => {
      const pages: string[][] = []
      for (let cursor: string | undefined, isFirst = true; isFirst || cursor; isFirst = false) {
        const page = await adapter.fetchMessages(thread, { limit: 2, direction, ...(cursor && { cursor }) })
        pages.push(page.messages.map(({ text }) => text))
        cursor = page.nextCursor
      }
      return pages
    }
    expect((await read('forward')).flat()).toEqual(['first', ...replies])
    expect((await read('backward')).toReversed().flat()).toEqual(['first', ...replies])
    const channel = adapter.channelIdFromThreadId(thread)
    const oldest = await adapter.fetchChannelMessages!(channel, { limit: 1, direction: 'forward' })
    expect(oldest.messages.map(({ text, author }) => [text, author.userName])).toEqual([['first', 'ada']])
    const newest = await adapter.fetchChannelMessages!(channel, { limit: 1 })
    expect(newest.messages.map(({ id }) => id)).toEqual([message_id])
    const { threads } = await adapter.listThreads!(channel)
    expect(threads.map(({ id, rootMessage, replyCount }) => [id, rootMessage.text, replyCount])).toEqual([
      [`${channel}:${message_id}`, 'second', 0],
      [thread, 'first', 5],
    ])
    expect(await adapter.fetchThread(thread)).toMatchObject({
      id: thread,
      channelId: channel,
      channelName: 'Engines',
      isDM: false,
    })
    expect(await adapter.fetchChannelInfo!(channel)).toMatchObject({ id: channel, name: 'Engines', memberCount: 3 })
    expect(await adapter.fetchMessage!(thread, message_id)).toMatchObject({ id: message_id, text: 'second' })
    expect(await adapter.fetchMessage!(thread, grace.id)).toBeNull()
    expect(await adapter.getUser!(grace.id)).toMatchObject({ userId: grace.id, userName: 'grace', isBot: false })
    expect(await adapter.getUser!(root.root_id)).toBeNull()
    await adapter.markAsRead!(thread, root.message_id)
    await adapter.markAsRead!(channel, message_id)
  })

  it('begins at the oldest message by few calls, and lists no thread whose root is removed', async () => {
    const place = await startPlace(service)
    const { ada, client, conversation_id, root } = place
    const texts = Array.from({ length: 12 }, (_, n) => `root ${n}`)
    const roots: string[] = []
    for (const content of texts) roots.push((await ada.messages.postRoot(conversation_id, { content })).root_id)
    const list = vi.spyOn(client.messages, 'list')
    const { adapter } = await startBot(place)
    const channel = adapter.encodeThreadId({ conversation_id })
    const read: string[] = []
    for (let cursor: string | undefined, isFirst = true; isFirst || cursor; isFirst = false) {
      const options = { limit: 2, direction: 'forward' as const, ...(cursor && { cursor }) }
      const page = await adapter.fetchChannelMessages!(channel, options)
      if (isFirst) expect(list).toHaveBeenCalledOnce()
      read.push(...page.messages.map(({ text }) => text))
      cursor = page.nextCursor
    }
    expect(read).toEqual(['first', ...texts])

    await ada.messages.reply(roots[0]!, { content: 'It stays' })
    await ada.messages.remove(roots[0]!)
    const get = client.messages.get
    const gone = Object.assign(new Error('gone'), { code: 'not_found' })
    vi.spyOn(client.messages, 'get').mockImplementation((id) => (id === roots[1] ? Promise.reject(gone) : get(id)))
    const { threads } = await adapter.listThreads!(channel)
    const listed = threads.map(({ rootMessage }) => rootMessage.id)
    expect(listed).toEqual([...roots.slice(2).toReversed(), root.root_id])
  })

  it('shows that it types, until it posts', async () => {
    const place = await startPlace(service)
    const { ada, bot: user, conversation_id, root } = place
    const { adapter } = await startBot(place)
    const ending = new AbortController()
    const seen: boolean[] = []
    const ready = next<void>()
    const following = (async () => {
      for await (const { event } of ada.events.follow(conversation_id, { signal: ending.signal })) {
        if (event.type === 'stream.ready') ready.take()
        if (event.type === 'typing.update' && event.payload.user_id === user.id)
          seen.push(new Date(event.payload.expires_at).getTime() > Date.now())
      }
    })()
    await ready.value
    const thread = adapter.encodeThreadId({ conversation_id, root_id: root.root_id })
    await adapter.startTyping(thread)
    await expect.poll(() => seen).toEqual([true])
    await adapter.endTyping!(thread)
    await expect.poll(() => seen).toEqual([true, false])
    ending.abort()
    await following
  })
})
