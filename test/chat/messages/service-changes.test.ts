import { beforeAll, describe, expect, it } from 'vitest'
import { checkedFetch } from '../../support/answers.ts'
import { describeService } from '../../support/describe-service.ts'
import { codeOf, PASSWORD, type Person, startThread, times } from '../../support/service.ts'
import { openStream, refreshByHand, signInByHand } from '../../support/stream.ts'

describeService('changing a message', (service) => {
  let ada: Person
  let grace: Person
  let eve: Person
  let conversation_id: string
  beforeAll(async () => {
    ;({ ada, grace, eve, conversation_id } = await startThread(service))
  })

  const post = async (person: Person, content = 'original') =>
    (await person.messages.postRoot(conversation_id, { content })).message
  const read = (message_id: string) => ada.messages.get(message_id)

  it('edits: the text is replaced, the previous text is a revision', async () => {
    const { id: message_id } = await post(grace, 'one')
    await grace.messages.edit(message_id, { content: 'two', reason: 'typo' })
    await grace.messages.edit(message_id, { content: 'three' })
    expect(await read(message_id)).toMatchObject({ content: 'three', edited_at: expect.any(String) })
    const { revisions } = await ada.messages.listRevisions(message_id)
    expect(revisions).toMatchObject([{ content: 'one', reason: 'typo' }, { content: 'two' }])
    expect(revisions[0]!.replaced_at < revisions[1]!.replaced_at).toBe(true)
  })

  it('lets only the author edit, not even the owner', async () => {
    const { id: message_id } = await post(grace)
    expect(await codeOf(ada.messages.edit(message_id, { content: 'x' }))).toBe('forbidden')
    expect(await codeOf(eve.messages.edit(message_id, { content: 'x' }))).toBe('not_found')
  })

  it('deletes: a tombstone stays, no read returns the text, restoring brings it back', async () => {
    const secret = 'the-secret-text'
    const { id: message_id, root_id } = await post(grace, secret)
    await grace.messages.edit(message_id, { content: `${secret} edited` })
    const { message: reply } = await ada.messages.reply(message_id, { content: 'a reply' })
    const before = await ada.threads.tree(root_id)

    await grace.messages.remove(message_id, { reason: 'wrong room' })
    const everything = JSON.stringify([
      await read(message_id),
      await ada.threads.tree(root_id),
      await ada.threads.list(conversation_id),
      await ada.messages.listRevisions(message_id),
    ])
    expect(everything).not.toContain(secret)
    expect(await read(message_id)).toMatchObject({ content: '', deleted_at: expect.any(String) })
    const { messages } = await ada.threads.tree(root_id)
    expect(messages.map((message) => message.id)).toEqual([message_id, reply.id])
    expect(messages[1]!.content).toBe('a reply')

    await grace.messages.restore(message_id)
    const { stream_position: _, ...after } = await ada.threads.tree(root_id)
    expect(after).toEqual({ root_id: before.root_id, messages: before.messages })
    expect((await ada.messages.listRevisions(message_id)).revisions).toHaveLength(1)
  })

  it('refuses changes of a deleted message', async () => {
    const { id: message_id } = await post(grace)
    expect(await codeOf(grace.messages.restore(message_id))).toBe('message_not_deleted')
    await grace.messages.remove(message_id)
    expect(await codeOf(grace.messages.remove(message_id))).toBe('message_deleted')
    expect(await codeOf(grace.messages.edit(message_id, { content: 'x' }))).toBe('message_deleted')
    expect(await codeOf(ada.messages.reply(message_id, { content: 'x' }))).toBe('message_deleted')
  })

  it('lets owners and admins delete and restore messages of others, and no other role', async () => {
    const { id: message_id } = await post(grace)
    const linus = await service.signIn('linus')
    await ada.participants.add(conversation_id, { user_id: linus.id })
    expect(await codeOf(linus.messages.remove(message_id))).toBe('forbidden')
    await ada.messages.remove(message_id)
    // Its author did not delete it, and cannot undo the deletion of another user.
    expect(await codeOf(grace.messages.restore(message_id))).toBe('forbidden')
    expect(await codeOf(linus.messages.restore(message_id))).toBe('forbidden')
    await ada.messages.restore(message_id)
    expect((await read(message_id)).content).toBe('original')
  })

  it('returns the reason of a deletion to users who may restore the message, and to no other', async () => {
    const { id: message_id, root_id } = await post(grace)
    const linus = await service.signIn('linus')
    const ben = await service.signIn('ben', ['read_only'])
    await ada.participants.add(conversation_id, { user_id: linus.id }).catch(() => {})
    await ada.participants.add(conversation_id, { user_id: ben.id })
    const { cookie } = await signInByHand(service.base_url, linus.email, PASSWORD)
    const stream = await openStream(service.base_url, conversation_id, { cookie: cookie! })
    await stream.until('stream.ready')
    await grace.messages.remove(message_id, { reason: 'wrong room' })

    const reasonsFor = async (person: Person) => [
      (await person.messages.get(message_id)).delete_reason,
      (await person.threads.tree(root_id)).messages[0]!.delete_reason,
    ]
    expect(await reasonsFor(grace)).toEqual(['wrong room', 'wrong room'])
    expect(await reasonsFor(ada)).toEqual(['wrong room', 'wrong room'])
    expect(await reasonsFor(linus)).toEqual([undefined, undefined])
    expect(await reasonsFor(ben)).toEqual([undefined, undefined])
    expect(JSON.stringify(await stream.until('message.deleted'))).not.toContain('wrong room')
    await stream.close()

    await ada.messages.restore(message_id)
    expect(await reasonsFor(ada)).toEqual([undefined, undefined])
    await ada.messages.remove(message_id)
    expect(await reasonsFor(ada)).toEqual([undefined, undefined])
    // Its author did not delete it this time.
    await ada.messages.restore(message_id)
    await ada.messages.remove(message_id, { reason: 'off topic' })
    expect(await reasonsFor(grace)).toEqual([undefined, undefined])
  })

  it('lets viewers neither delete nor restore, not even what they wrote as members', async () => {
    const [{ id: message_id }, { id: deleted }] = [await post(grace), await post(grace)]
    await grace.messages.remove(deleted, { reason: 'wrong room' })
    const params = { conversation_id, user_id: grace.id }
    await ada.participants.changeRole(params.conversation_id, params.user_id, { role: 'viewer' })
    expect(await codeOf(grace.messages.remove(message_id))).toBe('forbidden')
    expect(await codeOf(grace.messages.restore(deleted))).toBe('forbidden')
    expect((await grace.messages.get(deleted)).delete_reason).toBeUndefined()
    await ada.participants.changeRole(params.conversation_id, params.user_id, { role: 'member' })
    await grace.messages.remove(message_id)
    await grace.messages.restore(deleted)
  })

  it('counts a deletion once, of ten at once', async () => {
    const { id: message_id, root_id } = await post(grace)
    const answers = await Promise.all(
      times(10, () =>
        grace.messages.remove(message_id).then(
          () => 'deleted',
          (error) => error.code,
        ),
      ),
    )
    expect(answers.sort()).toEqual(['deleted', ...Array(9).fill('message_deleted')])
    const { threads } = await ada.threads.list(conversation_id)
    expect(threads.find((thread) => thread.root_id === root_id)).toMatchObject({
      message_count: 0,
      participant_count: 0,
    })
  })

  describe('Idempotency-Key', () => {
    type Signed = Record<string, string>
    let byAda: Signed
    let byGrace: Signed
    beforeAll(async () => {
      byAda = await signInByHand(service.base_url, ada.email, PASSWORD)
      byGrace = await signInByHand(service.base_url, grace.email, PASSWORD)
    })

    const send = async (caller: Signed, key: string, content: string, conversation = conversation_id) => {
      const response = await checkedFetch(`${service.base_url}/api/threads/${conversation}/root`, {
        method: 'POST',
        headers: { ...caller, 'content-type': 'application/json', 'idempotency-key': key },
        body: JSON.stringify({ content }),
      })
      const body = (await response.json()) as { message_id?: string; code?: string }
      return { ...body, status: response.status, replayed: response.headers.get('idempotency-replayed') }
    }

    it('creates one message for the same post, at once, later, and after a refresh', async () => {
      const answers = await Promise.all(times(8, () => send(byAda, 'once-1', 'only once')))
      expect(new Set(answers.map((answer) => answer.message_id)).size).toBe(1)
      expect(answers.filter((answer) => answer.replayed === null)).toHaveLength(1)
      byAda = await refreshByHand(service.base_url, byAda)
      expect(await send(byAda, 'once-1', 'only once')).toMatchObject({
        status: 201,
        replayed: 'true',
        message_id: answers[0]!.message_id,
      })
      const { threads } = await ada.threads.list(conversation_id, { limit: 200 })
      expect(threads.filter((thread) => thread.root_excerpt === 'only once')).toHaveLength(1)
    })

    it('creates one reply for the same reply, and is refused under another message', async () => {
      const { message_id } = await send(byAda, 'above-replies', 'above')
      const reply = (parent_id: string) =>
        ada.messages.reply(parent_id, { content: 'below' }, { headers: { 'idempotency-key': 'reply-1' } })
      const first = await reply(message_id!)
      expect(first.idempotency_replayed).toBeUndefined()
      expect(await reply(message_id!)).toEqual({ ...first, idempotency_replayed: 'true' })
      expect(await codeOf(reply(first.message_id))).toBe('idempotency_mismatch')
    })

    it.each(['root', 'reply'] as const)('answers a repeated %s as the first, and then as a read', async (route) => {
      const { message_id: parent } = await ada.messages.postRoot(conversation_id, { content: 'above' })
      const path = route === 'root' ? `/api/threads/${conversation_id}/root` : `/api/messages/${parent}/reply`
      const post = async () => {
        const response = await checkedFetch(service.base_url + path, {
          method: 'POST',
          headers: { ...byAda, 'content-type': 'application/json', 'idempotency-key': `as-first-${route}` },
          body: JSON.stringify({ content: 'once', metadata: { order: 42 }, mentions: { user_ids: [grace.id] } }),
        })
        const names = [...response.headers.keys()].filter((name) => name !== 'idempotency-replayed').sort()
        return {
          status: response.status,
          names,
          body: (await response.json()) as { message_id: string; message: object },
        }
      }
      const first = await post()
      expect(first.body.message).toMatchObject({ mentions: { user_ids: [grace.id] }, metadata: { order: 42 } })
      expect(await post()).toEqual(first)
      const { message_id } = first.body
      await ada.reactions.add(message_id, '👍')
      await grace.reactions.add(message_id, '👍')
      await ada.pins.add(message_id)
      const again = await post()
      expect(again.body.message).toMatchObject({ reacted: ['👍'], reactions: [{ count: 2 }], pinned: { by: ada.id } })
      expect(again).toEqual({ ...first, body: { ...first.body, message: await ada.messages.get(message_id) } })
      await ada.messages.remove(message_id, { reason: 'twice' })
      expect((await post()).body.message).toEqual(await ada.messages.get(message_id))
    })

    it('is refused for another post, and belongs to one user', async () => {
      const first = await send(byAda, 'mine', 'first')
      expect(await send(byAda, 'mine', 'second')).toMatchObject({ status: 409, code: 'idempotency_mismatch' })
      const { conversation_id: other } = await ada.conversations.create()
      expect(await send(byAda, 'mine', 'first', other)).toMatchObject({ code: 'idempotency_mismatch' })
      expect((await send(byGrace, 'mine', 'first')).message_id).not.toBe(first.message_id)
    })

    it.each(['', 'with space', 'x'.repeat(129), 'caf\u00E9'])('is not %j', async (key) => {
      expect(await send(byAda, key, 'x')).toMatchObject({ status: 422, code: 'validation_failed' })
    })
  })
})
