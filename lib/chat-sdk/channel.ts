import type { ChannelInfo } from 'chat'
import type { ChatClient } from '../client/types.ts'
import type { ThreadIds } from './thread-ids.ts'

/** A conversation as a channel of the SDK. @param id of the channel, or of a thread in it */
export async function fetchChannel(client: ChatClient, ids: ThreadIds, id: string): Promise<ChannelInfo> {
  const { conversation_id } = ids.decode(id)
  const conversation = await client.conversations.get(conversation_id)
  const { title, direct, participant_count, visibility } = conversation
  return {
    id: ids.encode({ conversation_id, ...(direct && { direct }) }),
    isDM: direct === true,
    memberCount: participant_count,
    metadata: { conversation },
    channelVisibility: visibility === 'private' ? 'private' : 'workspace',
    ...(title && { name: title }),
  }
}
