/**
 * Why a folder cannot be used as an embedding model. The message goes on after the name of the folder, and says what
 * the operator can do.
 */
export class FolderFault extends Error {
  override name = 'FolderFault'
}
