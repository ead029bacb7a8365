import { beforeAll, describe, expect, it } from 'vitest'
import { openEditor } from './editor.ts'

describe('an editor', () => {
  let editor: ReturnType<typeof openEditor>
  beforeAll(() => {
    editor = openEditor()
  }, 120_000)

  /** The copy of a type, which the editor shows, has `undefined` twice for an optional field. */
  const fieldsAt = (name: string) => editor.hover(name).replaceAll('| undefined | undefined', '| undefined')

  it('shows what a function of the service does, its input and its failures', () => {
    const text = editor.hover('service')
    expect(text).toContain('reply(actor: Actor, parent_id: string, input?: PostInput): Promise<PostedMessage>')
    expect(fieldsAt('input')).toContain(`{
    content?: string | undefined;
    role?: "user" | "assistant" | undefined;
    metadata?: Record<string, unknown> | undefined;
    assistant?: string | undefined;
    mentions?: PostMentionsInput | undefined;
    attachment_ids?: string[] | undefined;
    quote_id?: string | undefined;
    invocation_id?: string | undefined;
    variant_of?: string | undefined;
    generated?: boolean | undefined;
    stream?: boolean | undefined;
    idempotency_key?: string | undefined;
}`)
    expect(text).toContain('Adds a reply under a message')
    expect(text).toMatch(/@throws ChatError `not_found`.*`message_deleted`.*`validation_failed`/s)
  }, 120_000)

  it('shows the same of a method of the client', () => {
    const text = editor.hover('client')
    expect(text).toContain(
      'reply(parent_id: string, input?: MessageInput, options?: CallOptions): Promise<PostedMessage>',
    )
    expect(fieldsAt('client input')).toContain(`{
    content?: string | undefined;
    role?: "user" | "assistant" | undefined;
    metadata?: Record<string, unknown> | undefined;
    assistant?: string | undefined;
    mentions?: PostMentionsInput | undefined;
    attachment_ids?: string[] | undefined;
    quote_id?: string | undefined;
    invocation_id?: string | undefined;
    variant_of?: string | undefined;
    generated?: boolean | undefined;
    stream?: boolean | undefined;
}`)
    expect(text).toContain('Reply to a message.')
    expect(text).toMatch(/@throws ChatError `not_found`[^@]*`message_deleted`/)
  })

  it('names what comes back, and says what a value means', () => {
    expect(editor.hover('result')).toContain('PostedMessage.message: Message')
    expect(editor.hover('value')).toMatch(/port: number\nPort to listen on/)
  })

  it('completes the keys of the configuration, with their defaults, of an input and of the ports', () => {
    expect(editor.completions('section')).toEqual(expect.arrayContaining(['database', 'security', 'oauth']))
    expect(editor.completions('key')).toEqual(expect.arrayContaining(['host', 'trusted_proxies']))
    expect(editor.detail('key', 'port')).toBe('Port to listen on; 0 picks a free one. Default: `8080`.')
    expect(editor.completions('port')).toEqual([
      'assistant',
      'assistants',
      'bus',
      'hooks',
      'id',
      'identity',
      'log',
      'mail',
      'meter',
      'notify',
      'now',
      'operator',
      'scan',
      'thumbnail',
      'tools',
    ])
    expect(editor.completions('field')).toEqual([
      'assistant',
      'attachment_ids',
      'generated',
      'idempotency_key',
      'invocation_id',
      'mentions',
      'metadata',
      'quote_id',
      'role',
      'stream',
      'variant_of',
    ])
  })
})
