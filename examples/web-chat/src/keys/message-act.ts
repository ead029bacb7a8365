/** What a key asks of a message; its actions hear of it by an event. */
export const ACT = 'chat-act'
