// Private files and folders: what nobody but this user and root may change, so that what was checked stays as it was.
#pragma once
#include <sys/stat.h>

#include <string>

namespace dnn {

// Why somebody else may change such a file or folder: "belongs to user 1000", "others may write it (mode 0666)". "" where only
// this user and root may.
std::string why_not_private(const struct stat& status);

// Makes the folder, with those above it, for this user alone (mode 0700), or holds the one that is there to it. Throws Environment,
// with the way out, where others may change it: they could plant files there.
void make_private_folder(const std::string& path);

// Opens a file that is added to, and makes it where it is not there; `flags` are as of open(). A regular file of this user or of root,
// under one name and not by a link: else whoever may write the folder has another file written. Throws Environment, with the way out.
int open_growing(const std::string& path, int flags);

// Throws Environment, with the way out, where others may replace what lies in the folder: it is theirs, or they may write it and it
// lacks the sticky bit that /tmp has.
void check_temporary_parent(const std::string& path);

}  // namespace dnn
