/** An upstream has sent nothing for too long, in the middle of a body. */
export class StreamStalled extends Error {
  override readonly name = 'StreamStalled';
}
